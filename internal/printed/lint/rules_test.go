package lint

import (
	"fmt"
	"strings"
	"testing"

	"privrec/internal/printed"
)

// earlier is a publication that tables can be held against.
const earlier = `paper: reference
cite: c
year: 2019
data: {D: d}
metrics: {R: {is: Recall@20, unit: share}, N: {is: NDCG@20, unit: share}, P: {is: Precision@20, unit: share}}
blocks:
  - {id: old, where: w, kind: results, data: D, counts: {users: 10, items: 20, interactions: 100}, columns: [R, N], rows: [{method: M, values: [0.1569, 0.1327]}]}
`

const head = `paper: p
cite: c
year: 2024
seeds: 5
data: {D: d}
metrics:
  R: {is: Recall@20, unit: share}
  R%: {is: Recall@20, unit: percent}
  R10: {is: Recall@10, unit: share}
  N: {is: NDCG@20, unit: share}
  N%: {is: NDCG@20, unit: percent}
  N10: {is: NDCG@10, unit: share}
  H: {is: Hit@20, unit: share}
  M: {is: MRR@20, unit: share}
  P: {is: Precision@20, unit: share}
  F: {is: F1@20, unit: share}
  E: {is: micro F1, unit: share, lower: true}
  users: {is: users, unit: count}
  items: {is: items, unit: count}
  rows: {is: interactions, unit: count}
  length: {is: mean length, unit: number}
  density: {is: density, unit: share}
blocks:
`

// results is a table 1 of results on D.
func results(columns, rest string) string {
	return head + "  - {table: 1, where: w, kind: results, data: D, columns: [" + columns + "], " + rest + "}\n"
}

// statistics is a table 1 of data sets.
func statistics(columns, values string) string {
	return head + "  - {table: 1, where: w, kind: data, columns: [" + columns + "], rows: [{data: D, values: [" + values + "]}]}\n"
}

func check(t *testing.T, text string) []Finding {
	t.Helper()
	f, err := printed.Parse("p.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	old, err := printed.Parse("reference.yaml", []byte(earlier))
	if err != nil {
		t.Fatal(err)
	}
	return Check([]*printed.File{f}, []*printed.File{old}).Findings
}

// TestRules plants what a rule should find, beside the same table without it.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		name, rule, severity string
		good, bad            string
		want                 string // part of the line
	}{
		{
			"two tables", "conflict", Error,
			results("R", "rows: [{method: A, setting: {L: 3}, values: [0.15]}]") + "  - {table: 2, where: w, kind: results, data: D, method: A, columns: [R%], rows: [{setting: {L: 3}, values: [15.1]}, {setting: {L: 2}, values: [19.0]}]}\n",
			results("R", "rows: [{method: A, setting: {L: 3}, values: [0.15]}]") + "  - {table: 2, where: w, kind: results, data: D, method: A, columns: [R%], rows: [{setting: {L: 3}, values: [15.6]}]}\n",
			"p, Table 1, D, A: the same setting under L 3 has different numbers in different places: Recall@20 is 0.15 in Table 1, 15.6 in Table 2",
		},
		{
			"an earlier row", "copied", Warning,
			results("R%, N%", "rows: [{method: A, values: [15.69, 13.29]}, {method: B, copied: M, values: [15.69, 13.27]}]"),
			results("R%, N%", "rows: [{method: A, values: [15.69, 13.27]}]"),
			"2 numbers on D equal those of M of old (2019)",
		},
		{
			"an earlier row in fewer digits", "copied", Warning,
			results("R, N", "rows: [{method: A, values: [0.16, 0.13]}]"), // too few digits
			results("R, N", "rows: [{method: A, values: [0.157, 0.133]}]"),
			"2 numbers on D equal those of M of old (2019)",
		},
		{
			"two rows", "repeated", Warning,
			results("R, N", "rows: [{method: A, values: [0.123, 0.456]}, {method: B, values: [0.123, 0.457]}]"),
			results("R, N", "rows: [{method: A, values: [0.123, 0.456]}, {method: B, values: [0.123, 0.456]}]"),
			"p, Table 1, D, B: all 2 numbers equal those of Table 1, D, A",
		},
		{
			"one input", "same-input", Warning,
			sees + "rows: [{data: A<-B, method: S, values: [0.200±0.004]}, {data: A<-C, method: S, values: [0.203±0.004]}, {data: A<-C, method: T, values: [0.303±0.004]}]}\n",
			sees + "rows: [{data: A<-B, method: S, values: [0.200±0.004]}, {data: A<-C, method: S, values: [0.250±0.004]}]}\n",
			"S sees only A here as in A<-B, but its results differ by more than 5 runs explain: R is 0.250 ± 0.004, and 0.200 ± 0.004 there",
		},
		{
			"an improvement", "gain", Error,
			results("R", "rows: [{method: A, values: [0.120]}, {method: B, values: [0.100]}], improvements: [{method: A, over: B, values: [20.4]}]"),
			results("R", "rows: [{method: A, values: [0.120]}, {method: B, values: [0.100]}], improvements: [{method: A, over: B, values: [23.4]}]"),
			"an improvement of A over B of 23.4 percent is printed, but the two numbers give 18.91 to 21.11 percent",
		},
		{
			"an improvement where lower is better", "gain", Error,
			results("E", "rows: [{method: A, values: [0.800]}, {method: B, values: [1.000]}], improvements: [{method: A, over: B, values: [20.0]}]"),
			results("E", "rows: [{method: A, values: [0.800]}, {method: B, values: [1.000]}], improvements: [{method: A, over: B, values: [25.0]}]"),
			"25.0 percent is printed, but the two numbers give 19.91 to 20.09 percent",
		},
		{
			"a mean gain", "gain", Error,
			results("R, N", "rows: [{method: A, values: [0.1200, 0.3300]}, {method: B, values: [0.1000, 0.3000]}]") + said + "value: 15, unit: percent, gain: {table: 1, method: A, over: B}}\n",
			results("R, N", "rows: [{method: A, values: [0.1200, 0.3300]}, {method: B, values: [0.1000, 0.3000]}]") + said + "value: 12.9, unit: percent, gain: {table: 1, method: A, over: B}}\n",
			"gains divided by the better method's own number in place of the other's give 12.83 to 12.93 percent, which fits",
		},
		{
			"a number said again", "sentence", Error,
			statistics("users", "10") + said + "value: 10, unit: count, same: {table: 1, metric: users, data: D}}\n",
			statistics("users", "10") + said + "value: 11, unit: count, same: {table: 1, metric: users, data: D}}\n",
			"p, s: it: the sentence says 11 and Table 1 prints 10",
		},
		{
			"the best number", "sentence", Error,
			results("R", "rows: [{method: A, values: [0.8772]}, {method: B, values: [0.8]}]") + said + "value: 87.72, unit: percent, best: {tables: [1], metric: R, data: D}}\n",
			results("R", "rows: [{method: A, values: [0.8772]}, {method: B, values: [0.900]}]") + said + "value: 87.72, unit: percent, best: {tables: [1], metric: R, data: D}}\n",
			"the sentence says 87.72, but Table 1, D, B, R is 0.900",
		},
		{
			"columns", "sentence", Error,
			results("R, N", "rows: [{method: A, values: [0.1, 0.2]}]") + said + "value: 2, unit: count, columns: {table: 1}}\n",
			results("R, N", "rows: [{method: A, values: [0.1, 0.2]}]") + said + "value: 5, unit: count, columns: {table: 1}}\n",
			"the sentence says 5, and Table 1 has 2",
		},
		{
			"normal differences", "p-value", Warning,
			results("R", "rows: [{method: A, values: [0.12]}, {method: B, values: [0.10]}], test: {name: paired t-test, p_below: 0.1}, improvements: [{method: A, over: B, values: [20]}]"),
			results("R", "rows: [{method: A, values: [0.12]}, {method: B, values: [0.10]}], test: {name: paired t-test, p_below: 0.05}, improvements: [{method: A, over: B, values: [20]}]"),
			"p < 0.05 is stated by a paired t-test, and 5 runs: if the pairs are the runs, with 5 pairs an exact test (sign, Wilcoxon, permutation) cannot go below 0.0625 two-sided or 0.03125 one-sided, so all 1 star rest",
		},
		{
			"an impossible exact test", "p-value", Error,
			results("R", "rows: [{method: A, values: [0.12]}, {method: B, values: [0.10]}], test: {name: Wilcoxon test, p_below: 0.07}, improvements: [{method: A, over: B, values: [20]}]"),
			results("R", "rows: [{method: A, values: [0.12]}, {method: B, values: [0.10]}], test: {name: Wilcoxon test, p_below: 0.01}, improvements: [{method: A, over: B, values: [20]}]"),
			"p < 0.01 by a Wilcoxon test over 5 runs is impossible",
		},
		{
			"an exact test of one side", "p-value", Warning,
			results("R", "rows: [{method: A, values: [0.12]}, {method: B, values: [0.10]}], test: {name: sign test, p_below: 0.063}, improvements: [{method: A, over: B, values: [20]}]"),
			results("R", "rows: [{method: A, values: [0.12]}, {method: B, values: [0.10]}], test: {name: sign test, p_below: 0.05}, improvements: [{method: A, over: B, values: [20]}]"),
			"holds one-sided at best",
		},
		{
			"lengths", "mixed-columns", Error,
			statistics("users, rows, length", "5949, 571531, 96.07"),
			statistics("users, rows, length", "5949, 365535, 96.07"),
			"on D they give 571520, and 365535 are printed",
		},
		{
			"density", "density", Error,
			statistics("users, items, rows, density", "6040, 3706, 1000209, 0.04468"),
			statistics("users, items, rows, density", "6040, 3952, 1000209, 0.04468"),
			"users, items and interactions give 0.04190; the density fits 3706 items, and 3952 are printed",
		},
		{
			"counts of a table", "counts", Warning,
			statistics("users, items, rows", "10, 20, 100"),
			statistics("users, items, rows", "10, 20, 10"),
			"10 interactions are stated, but for the same 10 users and 20 items old, D, interactions has 100",
		},
		{
			"a share", "range", Error,
			results("R", "rows: [{method: A, values: [1.00]}]"),
			results("R", "rows: [{method: A, values: [1.01]}]"),
			"1.01 is no share between 0 and 1",
		},
		{
			"a percentage", "range", Error,
			results("R%", "rows: [{method: A, values: [100]}]"),
			results("R%", "rows: [{method: A, values: [100.1]}]"),
			"100.1 is no percentage between 0 and 100",
		},
		{
			"a count", "range", Error,
			statistics("users, length", "7, 2.5"),
			statistics("users, length", "7.5, 2.5"),
			"7.5 is no whole number",
		},
		{
			"a misprint", "misprint", Note,
			results("R", "rows: [{method: A, values: [0.0780]}]"),
			results("R", "rows: [{method: A, values: [0780 -> 0.0780]}]"),
			"0780 is printed, which must be 0.0780",
		},
		{
			"falling recall", "order", Error,
			results("R10, R", "rows: [{method: A, values: [0.20, 0.200]}]"),
			results("R10, R", "rows: [{method: A, values: [0.20, 0.190]}]"),
			"R10 is 0.20 and R is 0.190, but a longer list holds all that a shorter one found",
		},
		{
			"recall above the hit rate", "bounds", Error,
			results("R, H", "rows: [{method: A, values: [0.30, 0.30]}]"),
			results("R, H", "rows: [{method: A, values: [0.32, 0.30]}]"),
			"R is 0.32 beside H 0.30",
		},
		{
			"NDCG above the hit rate", "bounds", Error,
			results("N, H", "rows: [{method: A, values: [0.30, 0.30]}]"),
			results("N, H", "rows: [{method: A, values: [0.31, 0.29]}]"),
			"NDCG is 0 without a hit",
		},
		{
			"a hit rate that precision forbids", "bounds", Error,
			results("P, H", "rows: [{method: A, values: [0.030, 0.60]}]"),
			results("P, H", "rows: [{method: A, values: [0.030, 0.62]}]"),
			"a list of 20 with a hit has a precision of at least 1/20",
		},
		{
			"a hit rate that reciprocal ranks forbid", "bounds", Error,
			results("M, H", "rows: [{method: A, values: [0.030, 0.60]}]"),
			results("M, H", "rows: [{method: A, values: [0.020, 0.50]}]"),
			"a reciprocal rank of at least 1/20",
		},
		{
			"F1", "bounds", Error,
			results("P, R, F", "rows: [{method: A, values: [0.100, 0.300, 0.150]}]"),
			results("P, R, F", "rows: [{method: A, values: [0.100, 0.300, 0.200]}]"),
			"a mean of F1 is at most the F1 of mean precision and mean recall",
		},
		{
			"one relevant item", "one-item", Error,
			results("H, N", "relevant: one, rows: [{method: A, values: [0.500, 0.300]}]"),
			results("H, N", "relevant: one, rows: [{method: A, values: [0.500, 0.100]}]"),
			"NDCG does not fit Hit for lists with one relevant item: N is 0.100 and could be 0.1137 to 0.5005",
		},
		{
			"a step of one relevant item", "one-item", Warning,
			results("R10, R, N10, N", "relevant: inferred one, rows: [{method: A, values: [0.400, 0.500, 0.200, 0.226]}]"),
			results("R10, R, N10, N", "relevant: inferred one, rows: [{method: A, values: [0.400, 0.500, 0.200, 0.290]}]"),
			"which the paper does not state: N10 to N goes from 0.200 to 0.290, and could rise by 0.0225 to 0.0282",
		},
		{
			"the best of a column", "best-mark", Note,
			results("R", "rows: [{method: A, best: true, values: [0.30]}, {method: B, values: [0.30]}]"),
			results("R", "rows: [{method: A, best: true, values: [0.30]}, {method: B, setting: {d: 9}, values: [0.32]}]"),
			"R on D is 0.30, and B (d 9) has 0.32",
		},
		{
			"a hit rate of 50 users and 5 runs", "grim", Error,
			results("H", "tested: {D: 50}, rows: [{method: A, values: [0.504]}, {method: B, values: [0.508]}]"),
			results("H", "tested: {D: 50}, rows: [{method: A, values: [0.503]}, {method: B, values: [0.508]}]"),
			"Table 1, D, A, H: 0.503 is no share of 50 cases in each of 5 runs: " +
				"125 and 126 of 250 are 0.50000 and 0.50400",
		},
		{
			"recall of one item, in percent", "grim", Warning,
			results("R%", "relevant: inferred one, tested: {D: inferred 49 or 50}, "+
				"rows: [{method: A, values: [50.2]}, {method: B, values: [50.4]}]"),
			results("R%", "relevant: inferred one, tested: {D: inferred 49 or 50}, "+
				"rows: [{method: A, values: [50.5]}, {method: B, values: [50.4]}]"),
			"50.5 is no share of 49 or 50 cases in each of 5 runs, if one item of each list is relevant and " +
				"there are 49 or 50 cases: 126 and 127 of 250 are 50.400 and 50.800",
		},
		{
			"cases of a column", "grim", Warning,
			strings.Replace(results("E", "tested: {D: 2000}, rows: [{method: A, values: [0.503]}]"),
				"lower: true", "lower: true, tested: 2000", 1),
			strings.Replace(results("E", "tested: {D: 2000}, rows: [{method: A, values: [0.503]}]"),
				"lower: true", "lower: true, tested: 50", 1),
			"0.503 is no share of 50 cases in each of 5 runs, if F1 is the share of users guessed right: ",
		},
		{
			"means that one run gives", "one-run", Warning,
			results("H", "tested: {D: 50}, rows: ["+
				rowsOf("0.104 0.120 0.136 0.144 0.160 0.176 0.188 0.204 0.216 0.232")+"]"),
			results("H", "tested: {D: 50}, rows: ["+
				rowsOf("0.100 0.120 0.140 0.160 0.180 0.200 0.220 0.240 0.260 0.280")+"]"),
			"10 of 10 different numbers are shares of 50 cases, as of one run; " +
				"of means over 5 runs about 2 would be (p = 1.",
		},
		{
			"a private method, by test users", "private-better", Warning,
			withTwin(results("R", "tested: {D: 1000}, "+
				"rows: [{method: A, values: [0.330]}, {method: B, values: [0.300]}]")),
			withTwin(results("R", "tested: {D: 1000}, "+
				"rows: [{method: A, values: [0.400]}, {method: B, values: [0.300]}]")),
			"A is better than B, the same without its noise: R is 0.400, and 0.300 without noise (p = 1.",
		},
		{
			"a private method, by runs", "private-better", Note,
			withTwin(results("R", "rows: [{method: A, values: [0.310±0.020]}, {method: B, values: [0.300±0.020]}]")),
			withTwin(results("R", "rows: [{method: A, values: [0.345±0.020]}, {method: B, values: [0.310±0.020]}]")),
			"R is 0.345 ± 0.020, and 0.310 ± 0.020 without noise (p = 0.0",
		},
		{
			"a private method, without an interval", "private-better", Note,
			withTwin(results("R", "rows: [{method: A, setting: {eps: inf}, values: [0.310]}, "+
				"{method: A, setting: {eps: 1}, values: [0.300]}, {method: B, values: [0.300]}]")),
			withTwin(results("R", "rows: [{method: A, setting: {eps: 1}, values: [0.310]}, "+
				"{method: B, values: [0.300]}]")),
			"R is 0.310, and 0.300 without noise " +
				"(no interval: neither the number of test cases nor a spread over runs is known)",
		},
		{
			"a private method where lower is better", "private-better", Note,
			withTwin(strings.Replace(results("M", "rows: [{method: A, values: [0.310]}, {method: B, values: [0.300]}]"),
				"M: {is: MRR@20, unit: share}", "M: {is: MRR@20, unit: share, lower: true}", 1)),
			withTwin(strings.Replace(results("M", "rows: [{method: A, values: [0.290]}, {method: B, values: [0.300]}]"),
				"M: {is: MRR@20, unit: share}", "M: {is: MRR@20, unit: share, lower: true}", 1)),
			"M is 0.290, and 0.300 without noise (no interval",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if found := check(t, c.good); len(found) > 0 {
				t.Errorf("in the good table: %+v", found)
			}
			found := check(t, c.bad)
			if len(found) != 1 {
				t.Fatalf("%d findings in the bad table: %+v", len(found), found)
			}
			f := found[0]
			line := f.Paper + ", " + f.Place + ": " + f.Text
			if f.Rule != c.rule || f.Severity != c.severity || !strings.Contains(line, c.want) || f.Line == 0 || len(f.Evidence) == 0 {
				t.Errorf("got %s [%s] %s (line %d)\nwant %s [%s] ...%s...", f.Severity, f.Rule, line, f.Line, c.severity, c.rule, c.want)
			}
		})
	}
}

// rowsOf makes a row of a method of its own from each number.
func rowsOf(numbers string) string {
	var rows []string
	for i, n := range strings.Fields(numbers) {
		rows = append(rows, fmt.Sprintf("{method: M%d, values: [%s]}", i, n))
	}
	return strings.Join(rows, ", ")
}

// withTwin says that method B is A without its noise.
func withTwin(text string) string {
	return strings.Replace(text, "seeds: 5\n", "seeds: 5\ntwins: {A: B}\n", 1)
}

const said = "sentences:\n  - {where: s, about: it, "

// sees is a table of a method that ignores half of the data's name.
const sees = `paper: p
cite: c
year: 2024
seeds: 5
sees: {S: {A<-B: A, A<-C: A}}
metrics: {R: {is: Recall@20, unit: share}}
blocks:
  - {table: 1, where: w, kind: results, columns: [R], `
