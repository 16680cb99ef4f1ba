package membership_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/baseline"
	"privrec/internal/protocol/membership"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// auc returns the AUC of an evaluation or floor, with its interval.
func auc(t *testing.T, o outcome, name string) (float64, [2]float64) {
	t.Helper()
	for _, s := range append(o.Floors, o.Evaluations...) {
		if s.Name == name {
			metric := "AUC member " + o.Threat.Level + "s"
			return s.Values[metric], s.Intervals[metric]
		}
	}
	t.Fatalf("no row %q", name)
	return 0, [2]float64{}
}

// untrained makes an epoch that changes no number.
const untrained = "model.dim=16, train.epochs=1, train.rate=1e-12, train.select=last, train.patience=0"

// A model that learned its rows by heart is told from what it was not given; one that learned
// nothing is not. A floor and what is left beyond it stand beside every attack.
func TestInteractions(t *testing.T) {
	o := measured(t, "ease", "model.lambda=0.001")
	if v, in := auc(t, o, "score"); v < 0.9 || in[0] < 0.9 {
		t.Errorf("overfitted: AUC %.3f, %v", v, in)
	}
	if o.Threat.Models != 0 || o.Data.Members == 0 || o.Data.Members == o.Data.Candidates || o.Target.HoldOut.Rows != 0.5 {
		t.Errorf("%+v, %+v", o.Threat, o.Data)
	}
	if len(o.Floors) != 4 || len(o.Gains) != 6*len(o.Evaluations) {
		t.Errorf("%d floors, %d gains of %d attacks", len(o.Floors), len(o.Gains), len(o.Evaluations))
	}
	for _, g := range o.Gains {
		if g.Row == "score" && g.Metric == "AUC member interactions" && (g.Interval[0] < 0.3 || g.Over == "") {
			t.Errorf("left of the attack: %+v", g)
		}
	}
	// Rows are drawn by themselves: the AUC of any scores without training has a variance of
	// (n+1)/(12 members others), and misses 1/2 by 6.2 deviations once in 1e9.
	o = measured(t, "bprmf", untrained, "attack.sees=[scores, vectors]")
	for _, name := range []string{"score", "place", "angle of the vectors", "length of the history", "popularity of the items"} {
		n, m := float64(o.Data.Candidates), float64(o.Data.Members)
		bound := 6.2 * 6.2 * (n + 1) / (12 * m * (n - m))
		if v, _ := auc(t, o, name); (v-0.5)*(v-0.5) > bound {
			t.Errorf("untrained, %s: AUC %.3f", name, v)
		}
	}
}

// Reference models show more than a threshold.
func TestReferences(t *testing.T) {
	o := measured(t, "ease", "model.lambda=20", "attack.references=8", "attack.sees=[scores]")
	score, _ := auc(t, o, "score")
	online, _ := auc(t, o, "LiRA, online")
	offline, _ := auc(t, o, "LiRA, offline")
	if online < score || offline < score || o.Threat.Models != 8 {
		t.Errorf("score %.3f, online %.3f, offline %.3f, %d models", score, online, offline, o.Threat.Models)
	}
}

// RMIA stands beside LiRA where it is asked for, tells members at least as well as a threshold, and does not depend on
// the number of workers.
func TestRelative(t *testing.T) {
	var first []byte
	for _, workers := range []string{"1", "2", "5"} {
		dir, _, err := start(t, membership.Task(tasks()), "run.workers="+workers, "profile=own", "eval.resamples=200",
			"target.task=train ease", "target.set=[data.name=standin-tiny, data.recipe=rdpgcf, model.lambda=20]",
			"attack.references=4", "attack.sees=[scores]", "attack.statistics=[lira, rmia]")
		if err != nil {
			t.Fatal(err)
		}
		o := runtest.ReadJSON[outcome](t, dir, "metrics.json", false)
		score, _ := auc(t, o, "score")
		for _, name := range []string{"LiRA, online", "RMIA, online", "RMIA, offline"} {
			if v, _ := auc(t, o, name); v < score {
				t.Errorf("%s: AUC %.3f, score %.3f", name, v, score)
			}
		}
		text, err := os.ReadFile(filepath.Join(dir, "metrics.json"))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = text
		}
		if !bytes.Equal(first, text) {
			t.Errorf("%s workers: other results than one", workers)
		}
	}
}

// Users whom a model has a vector for are told from others where it was trained, and not where
// it was not. The shadow model leaves out the users who are attacked.
func TestUsers(t *testing.T) {
	o := measured(t, "ease", "model.lambda=20", "attack.level=user", "attack.strangers=popular", "attack.references=4", "attack.classifier=dnn")
	if v, _ := auc(t, o, "LiRA, online"); v < 0.9 || o.Threat.Models != 5 {
		t.Errorf("AUC %.3f with %d models", v, o.Threat.Models)
	}
	all := measured(t, "bprmf", untrained, "attack.level=user")
	if o.Data.Users >= all.Data.Users || all.Data.Candidates != all.Data.Users {
		t.Errorf("%d users attacked beside a shadow model, %d without", o.Data.Users, all.Data.Users)
	}
	n, m := float64(all.Data.Candidates), float64(all.Data.Members)
	for _, name := range []string{"place of own items", "likeness of history and list"} {
		if v, _ := auc(t, all, name); (v-0.5)*(v-0.5) > 6.2*6.2*(n+1)/(12*m*(n-m)) {
			t.Errorf("untrained, %s: AUC %.3f", name, v)
		}
	}
}

// A run that was given everything has no non-members: the error has the command that makes a run
// with some. Its test rows are taken only where the setting says so.
func TestNoNonMembers(t *testing.T) {
	dir, _, err := start(t, runtest.Task(t, tasks(), "ease"), "data.name=standin-tiny", "data.recipe=rdpgcf")
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []string{"interaction", "user"} {
		_, _, err = attack(t, "on.run="+dir, "attack.level="+level)
		var usage *run.UsageError
		key := map[string]string{"interaction": "run.hold_out.rows", "user": "run.hold_out.users"}[level]
		if !errors.As(err, &usage) || !strings.Contains(usage.Fix, "privrec train ease --config "+filepath.Join(dir, "config.yaml")+" --set "+key+"=0.5") {
			t.Errorf("%s: %v", level, err)
		}
	}
	o, text, err := attack(t, "on.run="+dir, "attack.non_members=test", "attack.sees=[lists]")
	if err != nil {
		t.Fatal(err)
	}
	if o.Threat.NonMembers != "test" || !strings.Contains(text, "guess budget") || !strings.Contains(text, "the others: test") {
		t.Errorf("%+v\n%s", o.Threat, text)
	}
	// The run that the hint makes can be attacked.
	held, _, err := start(t, runtest.Task(t, tasks(), "ease"), "data.name=standin-tiny", "data.recipe=rdpgcf", "run.hold_out.rows=0.5")
	if err != nil {
		t.Fatal(err)
	}
	if o, _, err = attack(t, "on.run="+held); err != nil || o.Target.HoldOut.Rows != 0.5 {
		t.Errorf("%+v, %v", o.Target, err)
	}
}

// Settings that mean nothing are refused by name.
func TestRefused(t *testing.T) {
	for set, want := range map[string]string{
		"attack.references=3":                         "attack.references",
		"attack.statistics=[rmia]":                    "attack.references",
		"attack.level=item":                           "attack.level",
		"attack.sees=[weights]":                       "attack.sees",
		"attack.strangers=popular":                    "attack.strangers",
		"target.set=[a=b]":                            "target.task",
		"attack.classifier=oracle":                    "attack.classifier",
		"eval.resamples=5":                            "eval.resamples",
		"on.run=" + filepath.Join(os.TempDir(), "no"): "there is no run",
		"profile=own":                                 "nothing to attack is named",
		"target.task=train nothing":                   "there is no task",
	} {
		if _, _, err := attack(t, set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}

// network is a setting of a model of sequences on generated rows.
const network = "target.set=[data.name=standin-tiny, data.recipe=dipsgnn, profile=own, model.dim=16, train.epochs=%d, train.rate=0.03, train.decay_every=30, train.l2=0, train.patience=0, train.select=last, train.validation=0, train.refit=false]"

// The last row of a user is told from one that was held out by what a model of sequences says after the
// rows before it, and a user from one who was held out whole. An untrained model tells neither.
func TestSequences(t *testing.T) {
	for level, by := range map[string]string{"interaction": "score of the last row", "user": "LiRA, online"} {
		sets := []string{"target.share=0.2"}
		if level == "user" {
			sets = []string{"attack.references=4"}
		}
		o, text, err := attack(t, append(sets, "target.task=train gru4rec", fmt.Sprintf(network, 16), "attack.level="+level)...)
		if err != nil {
			t.Fatal(err)
		}
		if v, _ := auc(t, o, by); v < 0.65 || !strings.Contains(text, "last training row") {
			t.Errorf("%s: AUC %.3f, %+v", level, v, o.Threat)
		}
		o, _, err = attack(t, "target.task=train gru4rec", strings.Replace(fmt.Sprintf(network, 1), "train.rate=0.03", "train.rate=1e-9", 1), "attack.level="+level)
		if err != nil {
			t.Fatal(err)
		}
		n, m := float64(o.Data.Candidates), float64(o.Data.Members)
		bound := 6.2 * 6.2 * (n + 1) / (12 * m * (n - m))
		for _, name := range []string{"score of the last row", "place of the last row", "place in the list", "length of the history"} {
			if v, _ := auc(t, o, name); (v-0.5)*(v-0.5) > bound {
				t.Errorf("untrained, %s, %s: AUC %.3f", level, name, v)
			}
		}
	}
	dir, _, err := start(t, baseline.Sessions(nextitem.Table{})[0], strings.Split(strings.Trim(strings.TrimPrefix(fmt.Sprintf(network, 1), "target.set="), "[]"), ", ")...)
	if err != nil {
		t.Fatal(err)
	}
	for want, sets := range map[string][]string{
		"later than all others":    {"on.run=" + dir, "attack.non_members=test", "attack.sees=[scores]"},
		"there are no non-members": {"on.run=" + dir},
		"keeps no weights":         {"target.task=train ease", "target.set=[protocol=next-item, data.name=standin-tiny, data.recipe=dipsgnn, data.candidates=train, profile=own]"},
		"keeps no vectors":         {"target.task=train gru4rec", fmt.Sprintf(network, 1), "attack.sees=[vectors]"},
		"of these data cannot be":  {"target.task=train sasrec", "target.set=[data.name=standin-slates]"},
	} {
		if _, _, err := attack(t, sets...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", sets, err, want)
		}
	}
}
