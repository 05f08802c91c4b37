// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.info;

import java.util.ArrayList;
import java.util.List;

/** Facts under headings, as aligned text. */
final class Report {
    private static final String INDENT = "  ";

    private record Fact(String name, String value) {
    }

    private record Section(String heading, List<Fact> facts) {
    }

    private final List<Section> sections = new ArrayList<>();

    Report section(String heading) {
        sections.add(new Section(heading, new ArrayList<>()));
        return this;
    }

    /** Adds to the last section; a value may have several lines. */
    Report fact(String name, Object value) {
        sections.getLast().facts.add(new Fact(name, String.valueOf(value)));
        return this;
    }

    String render() {
        var text = new StringBuilder();
        for (var section : sections) {
            text.append(text.isEmpty() ? "" : "\n").append(section.heading).append('\n');
            var width = section.facts.stream().mapToInt(fact -> fact.name.length()).max().orElse(0);
            for (var fact : section.facts) {
                var margin = "\n" + INDENT + " ".repeat(width) + INDENT;
                text.append((INDENT + fact.name + " ".repeat(width - fact.name.length()) + INDENT
                        + fact.value.strip().replace("\n", margin)).stripTrailing()).append('\n');
            }
            if (section.facts.isEmpty()) {
                text.append(INDENT).append("none\n");
            }
        }
        return text.toString();
    }
}
