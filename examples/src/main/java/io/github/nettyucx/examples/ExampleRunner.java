// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Runs an example's command line: 0 if all went well, 1 if the run failed, 2 if the arguments were wrong. Failures are
 * told in words; {@code --verbose}, where a command has it, adds the stack trace.
 */
public final class ExampleRunner {
    private static final String LAUNCHER = "./run-example.sh";
    private static final int HELP_WIDTH = 100;
    /** Held here because loggers that nobody holds forget their level. */
    private static final List<Logger> LOGGERS =
            List.of(Logger.getLogger("io.github.nettyucx"), Logger.getLogger("io.grpc"));
    /** gRPC warns of each call that a client has cancelled while there was more to be sent to it. */
    private static final Logger GRPC_SERVER = Logger.getLogger("io.grpc.netty.NettyServerHandler");

    private ExampleRunner() {
    }

    /** The whole of an example's {@code main}: runs the command and ends the process, whatever happens. */
    public static void main(String name, Callable<Integer> command, String... args) {
        main(LAUNCHER + " " + name, name, command, args);
    }

    /**
     * As {@link #main(String, Callable, String...)}, of a program with a script of its own.
     *
     * @param launcher what the user typed to start it
     * @param name what messages begin with
     */
    public static void main(String launcher, String name, Callable<Integer> command, String... args) {
        var exitCode = CommandLine.ExitCode.SOFTWARE;
        try {
            exitCode = run(launcher, name, command, args);
        } catch (Throwable t) {
            // An error that picocli does not catch. Without an exit, threads that are still there would keep a process
            // alive that has nothing left to do.
            System.err.println(name + ": " + Explanation.of(t));
        } finally {
            System.exit(exitCode);
        }
    }

    /**
     * @param name the name by which the user started the example
     * @param command a picocli command
     * @return the exit code for the process
     */
    public static int run(String name, Callable<Integer> command, String... args) {
        return run(LAUNCHER + " " + name, name, command, args);
    }

    /**
     * As {@link #run(String, Callable, String...)}, of a program with a script of its own.
     *
     * @param launcher what the user typed to start it
     * @param name what messages begin with
     */
    public static int run(String launcher, String name, Callable<Integer> command, String... args) {
        // Loads the class: where file descriptors run out, none can be loaded any more.
        Explanation.of(new ExampleFailure(""));
        // Standard error is for what the user should look at: warnings are, the version of a library is not.
        LOGGERS.forEach(logger -> logger.setLevel(Level.WARNING));
        GRPC_SERVER.setLevel(Level.SEVERE);
        var line = new CommandLine(command)
                .setCommandName(launcher)
                .setUsageHelpWidth(HELP_WIDTH)
                .setParameterExceptionHandler((e, _) -> rejected(name, e))
                .setExecutionExceptionHandler((e, commandLine, parsed) -> failed(name, e, commandLine, parsed));
        line.registerConverter(HostAndPort.class, parsed(HostAndPort::parse));
        line.registerConverter(ByteSize.class, parsed(ByteSize::parse));
        registerChoices(line);
        return line.execute(args);
    }

    /** What is told of a text that cannot be parsed is the message of the exception. */
    private static <T> ITypeConverter<T> parsed(Function<String, T> parse) {
        return text -> {
            try {
                return parse.apply(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        };
    }

    /** For each enum of which an argument has one or several constants. */
    private static void registerChoices(CommandLine line) {
        for (var argument : line.getCommandSpec().args()) {
            // Of a list, the type of what is in it.
            var type = argument.auxiliaryTypes()[0];
            if (type.isEnum()) {
                registerChoice(line, type);
            }
        }
        line.getSubcommands().values().forEach(ExampleRunner::registerChoices);
    }

    private static <E> void registerChoice(CommandLine line, Class<E> type) {
        line.registerConverter(type, new Choice<>(type));
    }

    private static int rejected(String name, ParameterException e) {
        var commandLine = e.getCommandLine();
        var err = commandLine.getErr();
        err.println(name + ": " + e.getMessage());
        UnmatchedArgumentException.printSuggestions(e, err);
        err.println("See '" + commandLine.getCommandSpec().qualifiedName() + " --help'.");
        err.flush();
        return commandLine.getCommandSpec().exitCodeOnInvalidInput();
    }

    private static int failed(String name, Exception e, CommandLine commandLine, ParseResult parsed) {
        PrintWriter err = commandLine.getErr();
        err.println(name + ": " + Explanation.of(e));
        if (parsed.hasMatchedOption("--verbose")) {
            e.printStackTrace(err);
        }
        err.flush();
        return commandLine.getCommandSpec().exitCodeOnExecutionException();
    }
}
