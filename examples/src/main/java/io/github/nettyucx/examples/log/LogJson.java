// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import io.github.nettyucx.examples.ExampleFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes everything that was measured as JSON. */
final class LogJson {
    private static final Gson GSON = new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();

    private LogJson() {
    }

    static void write(Path file, int seconds, List<LogRow> rows) {
        var all = new LinkedHashMap<String, Object>();
        all.put("time", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        all.put("processors", Runtime.getRuntime().availableProcessors());
        all.put("java", Runtime.version().toString());
        all.put("seconds", seconds);
        all.put("rows", rows.stream().map(LogJson::row).toList());
        all.put("targets", LogReport.targets(rows).stream().map(LogJson::target).toList());
        try {
            Files.writeString(file, GSON.toJson(all) + "\n");
        } catch (IOException e) {
            throw new ExampleFailure("cannot write " + file + ": " + e.getMessage(), e);
        }
    }

    private static Map<String, Object> row(LogRow row) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("table", row.table().toString());
        fields.put("transport", row.setting().toString());
        fields.put("way", row.way().toString());
        fields.put("size", row.size().bytes());
        fields.put("batch", row.batch());
        fields.put("replicas", row.replicas());
        put(fields, "one", row.one());
        put(fields, "busy", row.busy());
        if (!row.many().isEmpty()) {
            fields.put("many", row.many().stream().map(LogJson::result).toList());
        }
        put(fields, "received", row.received());
        return fields;
    }

    private static void put(Map<String, Object> fields, String name, LogResult result) {
        if (result != null) {
            fields.put(name, result(result));
        }
    }

    private static Map<String, Object> result(LogResult result) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("records", result.records());
        fields.put("bytes", result.bytes());
        fields.put("nanos", result.nanos());
        fields.put("p50Nanos", result.p50Nanos());
        fields.put("p99Nanos", result.p99Nanos());
        if (result.broker().records() > 0) {
            fields.put("brokerRecords", result.broker().records());
            fields.put("brokerCpuNanos", result.broker().cpuNanos());
            fields.put("brokerTurns", result.broker().turns());
        }
        if (result.idle().polls() > 0) {
            fields.put("idlePolls", result.idle().polls());
            fields.put("idleNanos", result.idle().nanos());
            fields.put("idleBrokerCpuNanos", result.idle().cpuNanos());
            fields.put("idleBrokerTurns", result.idle().turns());
        }
        return fields;
    }

    private static Map<String, Object> target(LogReport.Target target) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("name", target.name());
        fields.put(target.atLeast() ? "atLeast" : "atMost", target.limit());
        fields.put("measured", target.measured());
        fields.put("met", target.isMet());
        return fields;
    }
}
