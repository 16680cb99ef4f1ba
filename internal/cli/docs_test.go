package cli

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"privrec/internal/demo"
	"privrec/internal/papers"
	"privrec/internal/run"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "rewrite docs/commands.md, docs/data, testdata/answers and testdata/perturbed")

// The command reference is what the program says of itself; it is written by
// this test (make docs) and fails when the two drift apart.
func TestCommandReference(t *testing.T) {
	app := &App{Tasks: papers.All(), Demo: demo.Run, Benches: benches(), Stdout: io.Discard, Stderr: io.Discard}
	got := commandReference(app)
	const path = "../../docs/commands.md"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/commands.md is out of date, run make docs:\n%s", diff)
	}
}

// The reference has every command that is not an old name, and every flag of it, in its section or in the one that it
// names for flags of several commands.
func TestReferenceNamesEveryFlag(t *testing.T) {
	app := &App{Tasks: papers.All(), Demo: demo.Run, Benches: benches(), Stdout: io.Discard, Stderr: io.Discard}
	sections := map[string]string{}
	for _, section := range strings.Split(commandReference(app), "\n### ") {
		name, text, _ := strings.Cut(section, "\n")
		sections[name] = text
	}
	common, flags, models := sections[flagsOfTasks], 0, 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		name := c.CommandPath()
		for parent, word := range inOneSection {
			folder := parent + " " + word
			if name == parent {
				return
			}
			if strings.HasPrefix(name, parent+" ") {
				if !strings.Contains(sections[folder], "\n| `"+c.Name()+"` |") {
					t.Errorf("the table of %s lacks %s", folder, c.Name())
				}
				name = folder
				models++
			}
		}
		text, ok := sections[name]
		if slices.ContainsFunc(moves, func(m move) bool { return "privrec "+m.was == name }) {
			return
		}
		if !ok && c.HasParent() {
			t.Errorf("no section on %s", name)
		}
		c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			flags++
			held := strings.Contains(text, " --"+f.Name+" ")
			if strings.Contains(text, linkToTasks) {
				held = held || strings.Contains(common, " --"+f.Name+" ")
			}
			if !held && c.HasParent() {
				t.Errorf("the section on %s has no --%s", name, f.Name)
			}
		})
	}
	walk(app.root())
	if flags < 900 || models < 45 {
		t.Errorf("only %d flags, %d rows: the test looks in the wrong place", flags, models)
	}
}

// Headings of the reference that are no command lines.
const (
	flagsOfTasks = "Flags of every task"
	notListed    = "Commands that the help does not list"
)

// inOneSection are the commands whose commands are described in one section, with the word for them there.
var inOneSection = map[string]string{"privrec train": "MODEL", "privrec bench": "CASE"}

// linkToTasks names the section on the flags of tasks.
const linkToTasks = "[flags of every task](#flags-of-every-task)"

// commandReference returns the page of all commands.
func commandReference(app *App) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n" +
		"Written from the program's own help by `make docs`, in the groups of `privrec --help`.\n" +
		"The exit codes of all commands stand under [privrec](#privrec).\n")
	root := app.root()
	r := reference{common: taskFlagSet(), tasks: map[string]run.Task{}}
	for _, task := range app.Tasks {
		r.tasks["privrec "+task.String()] = task
	}
	groups := commandGroups(root)
	contents(&b, groups)
	r.section(&b, root)
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n", g.title)
		if slices.ContainsFunc(g.commands, func(c *cobra.Command) bool { return c.Name() == "train" }) {
			r.taskFlags(&b)
		}
		for _, c := range g.commands {
			walkCommands(c, func(c *cobra.Command) { r.section(&b, c) })
		}
	}
	return b.String()
}

// commandGroup is a group of the first screen.
type commandGroup struct {
	title    string
	commands []*cobra.Command
}

// commandGroups returns the groups of the first screen, and last the commands that it does not list and that are no
// old names.
func commandGroups(root *cobra.Command) (out []commandGroup) {
	of := func(keep func(c *cobra.Command) bool) (list []*cobra.Command) {
		for _, c := range root.Commands() {
			if keep(c) {
				list = append(list, c)
			}
		}
		return list
	}
	for _, g := range root.Groups() {
		shown := of(func(c *cobra.Command) bool { return c.GroupID == g.ID && c.IsAvailableCommand() })
		out = append(out, commandGroup{strings.TrimSuffix(g.Title, ":"), shown})
	}
	return append(out, commandGroup{notListed, of(func(c *cobra.Command) bool {
		return c.Hidden && !slices.ContainsFunc(moves, func(m move) bool { return m.was == c.Name() })
	})})
}

// walkCommands calls visit with a command and with all below it that have a section.
func walkCommands(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	if inOneSection[c.CommandPath()] != "" {
		return
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			walkCommands(sub, visit)
		}
	}
}

// anchor returns the fragment of a heading's address.
func anchor(heading string) string {
	return strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// contents writes a table of contents: a line for each command of a group, with the commands below it.
func contents(b *strings.Builder, groups []commandGroup) {
	link := func(text, path string) string { return fmt.Sprintf("[%s](#%s)", text, anchor(path)) }
	for _, g := range groups {
		fmt.Fprintf(b, "\n**[%s](#%s)**\n\n", g.title, anchor(g.title))
		for _, top := range g.commands {
			path := top.CommandPath()
			var below []string
			if word := inOneSection[path]; word != "" {
				path += " " + word
				below = append(below, link(word, path)+fmt.Sprintf(", %d of them", len(top.Commands())))
			}
			fmt.Fprintf(b, "- %s: %s\n", link(top.Name(), path), top.Short)
			walkCommands(top, func(c *cobra.Command) {
				if c != top && !c.HasSubCommands() {
					name := strings.TrimPrefix(c.CommandPath(), top.CommandPath()+" ")
					below = append(below, link(name, c.CommandPath()))
				}
			})
			if len(below) > 0 {
				fmt.Fprintf(b, "  - %s\n", strings.Join(below, ",\n    "))
			}
		}
	}
}

// reference writes the sections of the reference.
type reference struct {
	common *pflag.FlagSet      // of every task
	tasks  map[string]run.Task // by command line
}

// taskFlagSet returns the flags of every task.
func taskFlagSet() *pflag.FlagSet {
	p := pflag.NewFlagSet("", pflag.ContinueOnError)
	f := &taskFlags{}
	f.declare(p)
	f.declareSource(p)
	return p
}

// taskFlags writes the section on the flags of every task.
func (r reference) taskFlags(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n```\n%s```\n", flagsOfTasks, taskHelp, r.common.FlagUsages())
}

// own returns the flags of a command that are not those of every task, and whether it has those too.
func (r reference) own(c *cobra.Command) (own *pflag.FlagSet, task bool) {
	task = c.Flags().Lookup("set") != nil && c.Flags().Lookup("resume") != nil
	own = pflag.NewFlagSet("", pflag.ContinueOnError)
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if as := r.common.Lookup(f.Name); !task || as == nil || as.Usage != f.Usage {
			own.AddFlag(f)
		}
	})
	return own, task
}

// section writes the help of a command, without what is said of several.
func (r reference) section(b *strings.Builder, c *cobra.Command) {
	if word := inOneSection[c.CommandPath()]; word != "" {
		r.table(b, c, word)
		return
	}
	level, text := "###", c.Long
	if !c.HasParent() {
		level = "##"
	} else {
		text = strings.TrimSpace(strings.ReplaceAll(text, exitCodes, ""))
	}
	if text == "" {
		text = strings.ToUpper(c.Short[:1]) + c.Short[1:] + "."
	}
	text = strings.TrimSpace(strings.ReplaceAll(text, taskHelp, ""))
	fmt.Fprintf(b, "\n%s %s\n\n", level, c.CommandPath())
	b.WriteString(strings.ReplaceAll(text, "\n  ", "\n    ") + "\n") // indented lines are code
	if !c.HasSubCommands() {
		fmt.Fprintf(b, "\n    %s\n", c.UseLine())
	}
	if c.Example != "" {
		fmt.Fprintf(b, "\nFor example:\n\n%s\n", strings.ReplaceAll("  "+c.Example, "\n", "\n  "))
	}
	own, task := r.own(c)
	if task {
		fmt.Fprintf(b, "\nIt has the %s%s.\n", linkToTasks, r.but(c))
	}
	if flags := own.FlagUsages(); flags != "" {
		b.WriteString("\n```\n" + flags + "```\n")
	}
}

// but names the flags of every task that a command lacks.
func (r reference) but(c *cobra.Command) string {
	var lacks []string
	r.common.VisitAll(func(f *pflag.Flag) {
		if c.Flags().Lookup(f.Name) == nil {
			lacks = append(lacks, "`--"+f.Name+"`")
		}
	})
	if len(lacks) == 0 {
		return ""
	}
	return " but " + strings.Join(lacks, ", ")
}

// table writes one section on all commands below one, with a word for their names: a line for each, and the flags that
// some have beside those of all.
func (r reference) table(b *strings.Builder, c *cobra.Command, word string) {
	all := c.Commands()
	path, about := c.CommandPath()+" "+word, strings.ToUpper(c.Short[:1])+c.Short[1:]
	fmt.Fprintf(b, "\n### %s\n\n%s.\n\n    %[1]s [flags]\n", path, about)
	fmt.Fprintf(b, "\nFor example, and so for each:\n\n%s\n", strings.ReplaceAll("  "+all[0].Example, "\n", "\n  "))
	shared := pflag.NewFlagSet("", pflag.ContinueOnError)
	first, task := r.own(all[0])
	first.VisitAll(func(f *pflag.Flag) {
		if !slices.ContainsFunc(all, func(c *cobra.Command) bool {
			o := c.Flags().Lookup(f.Name)
			return o == nil || o.Usage != f.Usage
		}) {
			shared.AddFlag(f)
		}
	})
	if task {
		fmt.Fprintf(b, "\nEach has the %s.\n", linkToTasks)
	}
	if flags := shared.FlagUsages(); flags != "" {
		b.WriteString("\n```\n" + flags + "```\n")
	}
	cell := strings.NewReplacer("|", "\\|", "\n", " ").Replace
	head, rows := "| name | what it is |\n| --- | --- |", ""
	of := map[string]string{} // the commands that have a flag, by its name and words
	var some []*pflag.Flag    // flags that not all have
	if task {
		head = "| name | what it is | paper |\n| --- | --- | --- |"
	}
	for _, sub := range all {
		rows += fmt.Sprintf("| `%s` | %s |", sub.Name(), cell(sub.Short))
		if task {
			rows += " " + cell(r.tasks[sub.CommandPath()].Cite) + " |"
		}
		rows += "\n"
		flags, _ := r.own(sub)
		flags.VisitAll(func(f *pflag.Flag) {
			if shared.Lookup(f.Name) != nil {
				return
			}
			if of[f.Name+f.Usage] == "" {
				some = append(some, f)
			} else {
				of[f.Name+f.Usage] += ", "
			}
			of[f.Name+f.Usage] += "`" + sub.Name() + "`"
		})
	}
	b.WriteString("\n" + head + "\n" + rows)
	for len(some) > 0 { // those of the same commands together
		names := of[some[0].Name+some[0].Usage]
		together, rest := pflag.NewFlagSet("", pflag.ContinueOnError), []*pflag.Flag(nil)
		for _, f := range some {
			if of[f.Name+f.Usage] == names {
				together.AddFlag(f)
			} else {
				rest = append(rest, f)
			}
		}
		fmt.Fprintf(b, "\nOnly %s:\n\n```\n%s```\n", names, together.FlagUsages())
		some = rest
	}
}
