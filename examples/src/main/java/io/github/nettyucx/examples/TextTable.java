// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Aligned text for a terminal. */
public final class TextTable {
    private static final String GAP = "  ";

    private record Column(String heading, boolean left) {
    }

    private final List<Column> columns = new ArrayList<>();
    private final List<List<String>> rows = new ArrayList<>();

    public TextTable left(String heading) {
        columns.add(new Column(heading, true));
        return this;
    }

    public TextTable right(String heading) {
        columns.add(new Column(heading, false));
        return this;
    }

    /**
     * @param cells one for each column
     */
    public TextTable row(List<String> cells) {
        if (cells.size() != columns.size()) {
            throw new IllegalArgumentException(cells.size() + " cells for " + columns.size() + " columns");
        }
        rows.add(List.copyOf(cells));
        return this;
    }

    /** With two decimals, for times in microseconds. */
    public static String decimals(double value) {
        return String.format(Locale.ROOT, "%,.2f", value);
    }

    /** Rounded to a whole number, for rates. */
    public static String whole(double value) {
        return String.format(Locale.ROOT, "%,d", Math.round(value));
    }

    /**
     * @param faster how many times as fast; below 1 it is slower
     */
    public static String ratio(double faster) {
        return faster >= 1 ? String.format(Locale.ROOT, "%.1f× faster", faster)
                : String.format(Locale.ROOT, "%.1f× slower", 1 / faster);
    }

    /** A line ends with a line feed, whatever the platform. */
    public String render() {
        var text = new StringBuilder();
        line(text, columns.stream().map(Column::heading).toList(), ' ');
        line(text, columns.stream().map(_ -> "").toList(), '─');
        rows.forEach(row -> line(text, row, ' '));
        return text.toString();
    }

    private void line(StringBuilder text, List<String> cells, char fill) {
        var line = new StringBuilder();
        for (var i = 0; i < cells.size(); i++) {
            var cell = cells.get(i);
            var padding = Character.toString(fill).repeat(width(i) - cell.length());
            line.append(i == 0 ? "" : GAP);
            line.append(columns.get(i).left ? cell + padding : padding + cell);
        }
        text.append(line.toString().stripTrailing()).append('\n');
    }

    private int width(int column) {
        return rows.stream().mapToInt(row -> row.get(column).length())
                .reduce(columns.get(column).heading.length(), Math::max);
    }
}
