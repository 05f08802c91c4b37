// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.github.nettyucx.examples.ParentProcess;
import java.util.concurrent.CountDownLatch;

/** A process of {@link AeronIpc}: as a {@link Child}, or Aeron's media driver. */
final class AeronChild {
    static final String DRIVER = "driver";

    private AeronChild() {
    }

    /**
     * @param args the role and the driver's directory; for server and client the scenario as JSON; and for a client the
     *         server's address, which is that directory, and its process
     */
    public static void main(String[] args) {
        Child.run(() -> {
            var directory = args[1];
            if (args[0].equals(DRIVER)) {
                drive(directory);
                return;
            }
            var scenario = Json.LINE.fromJson(args[2], Scenario.class);
            if (args[0].equals(Child.SERVER)) {
                Child.serve(AeronServer.start(directory, scenario), directory);
            } else {
                var serverPid = Long.parseLong(args[4]);
                Child.measure(barrier -> new AeronClient(directory, scenario, serverPid, barrier));
            }
        });
    }

    /** With Aeron's defaults, but for the directory and one thread for everything. */
    private static void drive(String directory) throws InterruptedException {
        var stop = new CountDownLatch(1);
        var driver = MediaDriver.launch(new MediaDriver.Context()
                .aeronDirectoryName(directory)
                .threadingMode(ThreadingMode.SHARED)
                .dirDeleteOnShutdown(true));
        // However the process ends: Ctrl-C goes to all of them, and memory in files would outlive them.
        Runtime.getRuntime().addShutdownHook(new Thread(driver::close, "close-driver"));
        ParentProcess.onceGone(stop::countDown);
        System.out.println(Child.LISTENING + directory);
        stop.await();
    }
}
