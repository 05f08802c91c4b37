// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.docs;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The table of rooms of the page about the design, and what it says of a source file. */
final class Rooms {

    static final String PREFIX = "io.github.nettyucx.";
    private static final String NETTY = "io.netty";
    /** Free for all rooms. */
    private static final List<String> JDK = List.of("java", "javax", "jdk", "sun");
    /** They know no Netty. */
    private static final Set<String> WITHOUT_NETTY = Set.of("library", "ucp", "socket");

    /** Room, module, package, what it does, what it uses. */
    private static final Pattern ROW = Pattern.compile(
            "\\| (\\w+) \\| `([\\w-]+)` \\| `" + Pattern.quote(PREFIX) + "([\\w.]+)` \\| [^|]* \\| ([^|]*) \\|");
    private static final Pattern WORD = Pattern.compile("[a-z]+");
    /** What no name stands in: comments, texts. */
    private static final Pattern PROSE = Pattern.compile("/\\*.*?\\*/|//[^\\n]*|\"(?:\\\\.|[^\"\\\\\\n])*\"", Pattern.DOTALL);
    /** With all its packages, imported or not. */
    private static final Pattern OURS = Pattern.compile("\\bio\\.github\\.nettyucx\\.([a-z]+(?:\\.[a-z]+)*)\\b");
    private static final Pattern IMPORT = Pattern.compile("(?m)^import (?:static )?([\\w.]+)");

    /** One line of the table. */
    record Room(String name, String module, String uses) {
    }

    private final Map<String, Room> byPackage = new LinkedHashMap<>();
    private final Map<String, Set<String>> usedBy = new LinkedHashMap<>();

    /** @param page that has the table */
    Rooms(String page) {
        for (Matcher row = ROW.matcher(page); row.find(); ) {
            byPackage.put(row.group(3), new Room(row.group(1), row.group(2), row.group(4)));
        }
        Set<String> names = byPackage.values().stream().map(Room::name).collect(Collectors.toSet());
        for (Room room : byPackage.values()) {
            Set<String> used = WORD.matcher(room.uses).results().map(word -> word.group())
                    .filter(names::contains).collect(Collectors.toCollection(TreeSet::new));
            usedBy.put(room.name, used);
        }
    }

    /** The packages of a module, without the prefix. */
    Set<String> packagesOf(String module) {
        return byPackage.entrySet().stream().filter(entry -> entry.getValue().module.equals(module))
                .map(Map.Entry::getKey).collect(Collectors.toCollection(TreeSet::new));
    }

    /** The rooms that this one may use. */
    Set<String> usedBy(String room) {
        return usedBy.get(room);
    }

    /**
     * @param itsPackage of the source, without the prefix
     * @return what the source names and its room may not use
     */
    List<String> violations(String itsPackage, String source) {
        String room = byPackage.get(itsPackage).name;
        String code = PROSE.matcher(source).replaceAll(" ");
        List<String> found = new ArrayList<>();
        OURS.matcher(code).results().map(match -> match.group(1)).distinct().forEach(named -> {
            Room other = byPackage.get(named);
            if (other == null) {
                found.add(room + " names " + PREFIX + named + ", which is no room");
            } else if (!other.name.equals(room) && !usedBy.get(room).contains(other.name)) {
                found.add(room + " uses " + other.name);
            }
        });
        if (WITHOUT_NETTY.contains(room) && code.contains(NETTY)) {
            found.add(room + " uses Netty");
        }
        IMPORT.matcher(code).results().map(match -> match.group(1)).filter(name -> !isFree(name))
                .forEach(name -> found.add(room + " imports " + name));
        return found;
    }

    private static boolean isFree(String imported) {
        return imported.startsWith(PREFIX) || imported.startsWith(NETTY + '.')
                || JDK.contains(imported.substring(0, imported.indexOf('.')));
    }
}
