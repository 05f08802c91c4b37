// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Looks in a source for what reads or writes native memory, and says what does not name a field by {@link UcpLayouts}. */
final class MemoryAccess {

    private static final String LAYOUT = "(?:ValueLayout\\.)?[A-Z][A-Z_]*(?:\\.with\\w+\\([^()]*\\))*";
    /** The offset is the first argument. */
    private static final Pattern BY_ADDRESS = Pattern.compile(
            "\\bNativeMemory\\s*\\.\\s*(?:get|put|segment)\\w*\\(|(?<!NativeMemory)\\s*\\.\\s*(?:getString|setString|asSlice)\\(");
    /** It is the second one. */
    private static final Pattern BY_LAYOUT = Pattern.compile("(?<segment>\\w+)?[)\\]]*\\s*\\.\\s*[gs]et(?:AtIndex)?\\((?=\\s*"
            + LAYOUT + "\\s*,)");
    /** There are one or two, each after a layout, or after the memory. */
    private static final Pattern COPY = Pattern.compile("\\bMemorySegment\\s*\\.\\s*copy\\(");
    private static final Pattern VIEW = Pattern.compile("\\bNativeMemory\\b|\\bofAddress\\(|\\breinterpret\\(|\\bMemorySegment\\.NULL"
            + "\\b|\\bsun\\.misc\\b|\\bPlatformDependent\\s*\\.\\s*(?:get|put|copy|set|direct)\\w*\\(");
    private static final Pattern OF_UCX = Pattern.compile("\\bUcpLayouts\\.\\w+\\.[A-Z]");
    private static final Pattern NUMBER = Pattern.compile("\\b(?:0[xX][0-9a-fA-F_]+|[1-9][0-9_]*|0)[lL]?\\b");
    private static final Pattern NAME = Pattern.compile("(?<![\\w.])[A-Za-z_]\\w*(?!\\w*[.(])\\b");
    private static final Pattern CAST = Pattern.compile("\\((?:byte|short|int|long)\\)");
    private static final Pattern CONSTANT = Pattern.compile("(?<![\\w.])[A-Z][A-Z_]*\\b(?!\\.)");
    private static final Pattern CALL = Pattern.compile("\\b\\w+\\([^()]*\\)");
    private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|(?<!:)//[^\\n]*", Pattern.DOTALL);

    private final String text;

    MemoryAccess(String source) {
        text = COMMENT.matcher(source).replaceAll(" ");
    }

    /** Whether it has a view of memory that it has not allocated. */
    boolean seesForeignMemory() {
        return VIEW.matcher(text).find();
    }

    /** Offsets and addresses that do not come from a layout, as they are written there. */
    Set<String> withoutLayout() {
        Set<String> found = new LinkedHashSet<>();
        BY_ADDRESS.matcher(text).results().forEach(call -> addIfUnnamed(found, arguments(call).getFirst()));
        BY_LAYOUT.matcher(text).results().forEach(call -> {
            List<String> arguments = arguments(call);
            if (!isOneValue(call.group("segment"), arguments.getFirst(), arguments.get(1))) {
                addIfUnnamed(found, arguments.get(1));
            }
        });
        COPY.matcher(text).results().map(this::arguments).forEach(arguments -> {
            List<Integer> layouts = IntStream.range(0, arguments.size())
                    .filter(i -> arguments.get(i).matches(LAYOUT)).boxed().toList();
            (layouts.isEmpty() ? List.of(0, 2) : layouts).forEach(i -> addIfUnnamed(found, arguments.get(i + 1)));
        });
        return found;
    }

    private void addIfUnnamed(Set<String> found, String offset) {
        if (!isNamed(offset, 0)) {
            found.add(offset);
        }
    }

    /** A sum has to have a field in it; a number has none, also where a name has been given to it in the same file. */
    private boolean isNamed(String expression, int depth) {
        String offset = CONSTANT.matcher(CAST.matcher(expression).replaceAll("")).replaceAll(
                name -> Matcher.quoteReplacement(values(name.group()).findFirst().orElse(name.group())));
        // What is given to a function is no part of the sum.
        while (CALL.matcher(offset).find()) {
            offset = CALL.matcher(offset).replaceAll("called");
        }
        if (NUMBER.matcher(offset).find() || offset.contains("+") && !OF_UCX.matcher(offset).find()) {
            return false;
        }
        // Names are looked up as long as one leads to another; three are more than anybody has.
        return depth == 3 || NAME.matcher(offset).results().map(MatchResult::group).flatMap(this::values)
                .allMatch(value -> isNamed(value, depth + 1));
    }

    private Stream<String> values(String name) {
        return Pattern.compile("\\b(?:long|int)\\s+" + name + "\\s*=\\s*([^;]+);").matcher(text).results()
                .map(match -> match.group(1)).filter(value -> !value.equals("0") || isConstant(name));
    }

    /** Others that are 0 at first are counters. */
    private static boolean isConstant(String name) {
        return Character.isUpperCase(name.charAt(0));
    }

    /** The beginning of memory that was allocated for one value of that layout: where a function puts its result. */
    private boolean isOneValue(String segment, String layout, String offset) {
        return segment != null && offset.equals("0") && Pattern.compile("\\bMemorySegment " + segment
                + " = \\w+\\.allocate\\(" + Pattern.quote(layout) + "\\);").matcher(text).find();
    }

    /** Of a call, to its closing parenthesis. */
    private List<String> arguments(MatchResult call) {
        List<String> arguments = new ArrayList<>();
        int depth = 0;
        int from = call.end();
        for (int i = from; depth >= 0; i++) {
            char c = text.charAt(i);
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (depth < 0 || depth == 0 && c == ',') {
                arguments.add(text.substring(from, i).lines().map(String::strip).collect(Collectors.joining(" ")).strip());
                from = i + 1;
            }
        }
        return arguments;
    }
}
