//go:build !f64

package papers

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// battery runs tasks on neighbouring data sets. A run on the second one has the outputs of the first, so that all that
// follows from what was released is the same, and every release can be compared by itself.
type battery struct {
	t      *testing.T
	every  bool   // all neighbours
	lists  string // folder with what is stated of the data; "": nothing is
	users  bool   // which users there are is stated too, by a list that has those who are left out
	secure bool   // noise from cryptographic bits
	data   string // words about the data
	table  []outcome
}

// outcome is a line of the battery's table.
type outcome struct {
	task, setting, recipe string
	unit                  privacy.Subject
	tried                 int
	worst                 runtest.Move
	of                    string   // neighbour that moved it most
	open                  []string // what the account leaves open; nothing is compared then
}

// small makes the settings of a task in stops small enough for a shop of ten items. Samples have all examples: who is
// in a smaller one is a coin of each example alone, so that what an example gives is all that there is to compare.
var small = map[string][]string{
	"train dpsgd":                         {"train.batch=100000"},
	"train dpae":                          {"eval.candidates=2", "train.batch=100000"},
	"train dpne":                          {"eval.candidates=2"},
	"train dpmf":                          {"eval.candidates=2"},
	"train gerai":                         {"eval.candidates=2"},
	"train rdpgcf":                        {"train.batch=100000"},
	"train rdpgcf, repaired":              {"privacy.repaired.edges=80"},
	"train rdpgcf, repaired, edges apart": {"privacy.repaired.edges=80"},
	"train dp-sgd-mf":                     {"train.sample=1", "train.steps=3"},
}

// userRecipes are recipes of own data under which a user more or less is tried: all that have a name, and spelled ones
// of every step.
var userRecipes = []string{"ratio", "all", "ratio-valid", "5-core", "leave-one-out", "recent", "10-core",
	"distinct+ratio", "distinct+fraction", "distinct+leave-one-out",
	"distinct+last-3+fraction-60", "distinct+users-3+ratio-60+valid-20", "distinct+items-3+ratio", "distinct+3-core+last-4+leave-one-out", "distinct+rating-2+ratio+valid-30"}

// fewRecipes is how many of them are tried without the build tag slow.
const fewRecipes = 4

// options returns how a setting is started on own data.
func options(task run.Task, s stopped, recipe, dir string) run.Options {
	o := run.Options{Sets: slices.Concat(s.sets, []string{"data.name=own-shop", "data.recipe=" + recipe, "eval.k=[1,2]", "run.workers=1", "run.save_steps=0", "run.out=" + dir}, small[task.String()], small[task.String()+", "+s.name])}
	if s.config != "" {
		o.Config = filepath.Join(configs, s.config)
	}
	return o
}

// stated adds to options what is stated of data beforehand, as far as the task takes it: files of lists lie in a folder.
func stated(task run.Task, o run.Options, lists string, users bool) run.Options {
	keys := []string{"data.items=" + filepath.Join(lists, runtest.ItemsName), "data.sizes.users=12", "data.sizes.rows=80"}
	if users {
		keys = append(keys, "data.users="+filepath.Join(lists, runtest.UsersName))
	}
	for _, key := range keys {
		if with := append(slices.Clip(o.Sets), key); task.Check(o.Config, with) == nil {
			o.Sets = with
		}
	}
	return o
}

// start runs a task on the data of a folder.
func (b *battery) start(task run.Task, s stopped, recipe, data string, as *runtest.Releases) (*runtest.Releases, *experiment.Account, error) {
	b.t.Helper()
	os.Setenv("PRIVREC_DATA", data)
	dir := filepath.Join(b.t.TempDir(), "run")
	defer os.RemoveAll(dir)
	o := options(task, s, recipe, dir)
	if b.lists != "" {
		o = stated(task, o, b.lists, b.users)
	}
	if b.secure {
		o.Sets = append(o.Sets, "run.secure=true")
	}
	r, err := runtest.Observed(b.t, task, o, as)
	if err != nil {
		return nil, nil, err
	}
	a, err := experiment.ReadAccount(dir)
	if err != nil {
		b.t.Fatal(err)
	}
	return r, a, nil
}

// neighbour is a data set that differs in one unit from another.
type neighbour struct {
	name string
	dir  string
}

// try compares a setting under a recipe with its neighbours about a subject.
func (b *battery) try(task run.Task, s stopped, recipe, whole string, of privacy.Subject, neighbours []neighbour) int {
	b.t.Helper()
	r, a, err := b.start(task, s, recipe, whole, nil)
	if err != nil {
		return refused
	}
	line := outcome{task: task.String(), setting: s.name + b.data, recipe: recipe, unit: of, open: experiment.Names(a.Unbounded)}
	if of.Unit == privacy.Feature {
		if line.open = nil; a.Features != nil {
			line.open = experiment.Names(a.Features.Unbounded)
		}
	}
	if len(line.open) > 0 {
		b.table = append(b.table, line)
		return opened
	}
	allowed := 0.0 // of what an event states that neighbours by removal may move, and of one that states the subject itself
	for _, stated := range r.About() {
		if stated.Unit != of.Unit {
			continue
		}
		allowed = max(allowed, float64(stated.Neighbouring.Steps(of.Neighbouring)))
		if of.Unit == privacy.Edge && stated.Neighbouring == privacy.Replace { // a cell has an edge, or none
			allowed = max(allowed, 1)
		}
	}
	if allowed == 0 {
		return compared
	}
	for _, n := range neighbours {
		less, _, err := b.start(task, s, recipe, n.dir, r)
		m := runtest.Move{Share: math.Inf(1)}
		if err != nil {
			m.Why = "the run fails: " + err.Error()
		} else {
			m = runtest.Largest(r.Moves(less))
		}
		line.tried++
		m.Share /= allowed
		if m.Share > line.worst.Share {
			line.worst, line.of = m, n.name
		}
		if !(m.Share <= 1+1e-6) {
			b.t.Errorf("%s, %s, recipe %s, one %s, %s: %v", task, s.name, recipe, of.Unit, n.name, m)
		}
	}
	b.table = append(b.table, line)
	return compared
}

// withoutUsers makes a data set of the shop without each user. some are those that tell most.
func (b *battery) withoutUsers(shop *runtest.Shop) (whole string, all, some []neighbour) {
	whole = b.t.TempDir()
	shop.Write(b.t, whole)
	b.lists = whole
	for _, user := range shop.Users() {
		n := neighbour{"without user " + user, b.t.TempDir()}
		shop.Without(user).Write(b.t, n.dir)
		if all = append(all, n); slices.Contains(telling, user) {
			some = append(some, n)
		}
	}
	return whole, all, some
}

// byUser compares every task with a user less, under every recipe: without each user where every is set. Else the telling
// users are left out under the first recipe that a setting accepts, and one of them under all others.
func (b *battery) byUser(repeats bool, recipes []string) {
	whole, all, some := b.withoutUsers(runtest.SmallShop(repeats))
	for _, task := range All() {
		if task.Verb != "train" || b.secure && !task.Secure {
			continue
		}
		for _, s := range settingsOf(task) {
			list := some
			if b.every {
				list = all
			}
			first := true
			for _, recipe := range recipes {
				of := privacy.Subject{Unit: privacy.User, Neighbouring: privacy.AddRemove}
				tried := b.try(task, s, recipe, whole, of, list)
				if tried == opened && slices.Equal(b.table[len(b.table)-1].open, []string{experiment.OpenUsers}) {
					b.users = true // a model with a vector for each user
					tried = b.try(task, s, recipe, whole, of, list)
					b.users = false
				}
				if tried == opened && first {
					break // and so it is under all others
				}
				if tried != refused && !b.every {
					list = some[len(some)-1:]
				}
				first = first && tried == refused
			}
		}
	}
}

// newBattery prepares to run tasks on data of its own.
func newBattery(t *testing.T) *battery {
	t.Setenv("PRIVREC_DATA", "")
	t.Setenv("PRIVREC_CACHE", t.TempDir())
	return &battery{t: t}
}

// telling are the users whose absence tells most: the first one, the one whose id is a word, and the one with an item
// that nobody else has.
var telling = []string{"2", "b", "3"}

// What came of a recipe.
const (
	refused  = iota // the task does not accept it
	opened          // the account says that nothing is promised
	compared        // neighbours were compared
)

// show prints the table.
func (b *battery) show() {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "task\tsetting\tunit\trecipe\ttried\tlargest move\twhere")
	for _, l := range b.table {
		where := l.of + ", " + l.worst.String()
		if len(l.open) > 0 {
			where = "open: " + strings.Join(l.open, ", ")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%.4g\t%s\n", l.task, l.setting, l.unit.Unit, l.recipe, l.tried, l.worst.Share, where)
	}
	w.Flush()
	b.t.Logf("\n%s", out.String())
}

// What the tests of all tasks leave out: the slow tests set both so that all users and all training rows are.
var (
	everyUser = false
	rowStep   = 8 // of so many rows one
)

// A user more or less moves no release of a task further than its event states, under every recipe that the task
// accepts: here under the first few. Every task is here, by the settings in stops. With -v the tests print their
// tables. With -tags slow all users and rows are left out, and all recipes, repeated rows and secure noise are tried.
func TestNeighboursByUser(t *testing.T) {
	b := newBattery(t)
	b.every = everyUser
	b.byUser(false, userRecipes[:fewRecipes])
	b.show()
}

// Without a word about the data beforehand a finite epsilon on own data is none: the account says so, or a user less
// moves nothing.
func TestNeighboursOfUnstatedData(t *testing.T) {
	b := newBattery(t)
	whole, _, some := b.withoutUsers(runtest.SmallShop(false))
	b.lists = ""
	for _, task := range All() {
		if task.Verb != "train" {
			continue
		}
		for _, s := range settingsOf(task) {
			b.try(task, s, "ratio", whole, privacy.Subject{Unit: privacy.User, Neighbouring: privacy.AddRemove}, some)
		}
	}
	b.show()
}

// edgeUnits are the units that a training row of a published split is. EdgeRand states a cell that is exchanged: an edge
// more or less is one. Interactions are exchanged, since the one task that states them takes their number as public.
var edgeUnits = []privacy.Subject{{Unit: privacy.Edge, Neighbouring: privacy.AddRemove}, {Unit: privacy.Interaction, Neighbouring: privacy.Replace},
	{Unit: privacy.Sample, Neighbouring: privacy.AddRemove}}

// A training row more, less or exchanged moves no release of a task whose unit it is further than its event states.
// The rows are those of a published split: a recipe that cuts a user's own rows would move that user's other rows too.
func TestNeighboursByRow(t *testing.T) {
	b := newBattery(t)
	b.byRow(rowStep)
	b.show()
}

// byRow compares every task with one training row of each so many less, or exchanged.
func (b *battery) byRow(each int) {
	t := b.t
	shop := runtest.SmallShop(false).Numbered()
	var test []runtest.ShopRow
	for _, u := range shop.Users() { // a user's last row, and the one before it
		for range 2 {
			last := -1
			for k, r := range shop.Rows {
				if r.User == u {
					last = k
				}
			}
			if last >= 0 {
				test = append(test, shop.Rows[last])
				shop = shop.WithoutRow(last)
			}
		}
	}
	whole := t.TempDir()
	shop.WriteSplit(t, whole, test)
	b.lists, b.users = whole, true
	written := func(name string, s *runtest.Shop) neighbour {
		n := neighbour{name, t.TempDir()}
		s.WriteSplit(t, n.dir, test)
		return n
	}
	var removed, exchanged, lastOnes []neighbour
	for k, r := range shop.Rows {
		if k+1 == len(shop.Rows) || shop.Rows[k+1].User != r.User { // a sample less
			lastOnes = append(lastOnes, written("without the last item "+r.Item+" of user "+r.User, shop.WithoutRow(k)))
		}
		if k%each != 0 {
			continue
		}
		removed = append(removed, written("without item "+r.Item+" of user "+r.User, shop.WithoutRow(k)))
		for _, item := range shop.Listed {
			if !slices.ContainsFunc(slices.Concat(shop.Rows, test), func(x runtest.ShopRow) bool { return x.User == r.User && x.Item == item }) {
				exchanged = append(exchanged, written(fmt.Sprintf("with item %s in place of %s of user %s", item, r.Item, r.User), shop.WithItem(k, item)))
				break
			}
		}
	}
	for _, task := range All() {
		if task.Verb != "train" {
			continue
		}
		for _, s := range settingsOf(task) {
			for _, of := range edgeUnits {
				list := removed
				switch {
				case of.Neighbouring == privacy.Replace:
					list = exchanged
				case of.Unit == privacy.Sample:
					list = lastOnes
				}
				if b.try(task, s, "split", whole, of, list) != compared {
					break
				}
			}
		}
	}
}

// A user's features in place of others move no release of features by more than that user's row, and nothing else.
func TestNeighboursByFeature(t *testing.T) {
	b := newBattery(t)
	shop := runtest.SmallShop(false)
	whole := t.TempDir()
	shop.Write(t, whole)
	b.lists = whole
	var all []neighbour
	for _, user := range shop.Users() {
		n := neighbour{"with other features of user " + user, t.TempDir()}
		other := *shop
		other.Features = maps.Clone(shop.Features)
		other.Features[user] = []string{"F", "61", "doctor"}
		if shop.Features[user][0] == "F" {
			other.Features[user] = []string{"M", "19", "writer"}
		}
		other.Write(t, n.dir)
		all = append(all, n)
	}
	for _, task := range All() {
		if task.Verb != "train" {
			continue
		}
		for _, s := range settingsOf(task) {
			for _, recipe := range []string{"ratio", "all"} {
				if b.try(task, s, recipe, whole, privacy.Subject{Unit: privacy.Feature, Neighbouring: privacy.Replace}, all) != refused {
					break
				}
			}
		}
	}
	b.show()
}
