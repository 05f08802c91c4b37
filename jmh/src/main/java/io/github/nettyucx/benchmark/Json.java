// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonPrimitive;
import com.google.gson.JsonSerializer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** How results are written: on one line between processes, readable in files. */
final class Json {
    static final Gson LINE = new Gson();
    static final Gson FILE = new GsonBuilder().setPrettyPrinting().disableHtmlEscaping()
            .registerTypeAdapter(Instant.class, (JsonSerializer<Instant>) (time, _, _) ->
                    new JsonPrimitive(time.truncatedTo(ChronoUnit.SECONDS).toString()))
            .create();

    private Json() {
    }
}
