//go:build !f64

// What a ledger says does not depend on the width of numbers: float64 has no such tests.

package papers

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// stopped is a small setting of a task, under which it is stopped and its bytes are frozen.
type stopped struct {
	name   string
	config string // in the folder of configurations; empty: the task's defaults
	sets   []string
}

// stops has the settings whose accounts differ, all of tenths of a second, of tasks for which [settingsOf] has too few.
var stops = map[string][]stopped{
	"train dipsgnn": {
		{"noise", "dipsgnn/smoke.yaml", dipsgnnTiny},
		{"nothing chosen", "dipsgnn/smoke.yaml", append(dipsgnnTiny, "train.select=last", "train.refit=false", "train.patience=0", `eval.noise=["on"]`)},
		{"no noise", "dipsgnn/smoke.yaml", append(dipsgnnTiny, "privacy.features.epsilon=.inf", "privacy.transitions.epsilon=.inf", `eval.noise=["off"]`)},
		{"features raw", "dipsgnn/smoke.yaml", append(dipsgnnTiny, "privacy.features.unselected=raw", "privacy.features.epsilon=5")},
		{"noise on edges", "dipsgnn/smoke.yaml", append(dipsgnnTiny, "privacy.transitions.noise_on=edges", "model.normalise=none")},
		{"swaps", "dipsgnn/smoke-v2.yaml", append(dipsgnnTiny, "run.save_steps=2")},
		{"counted prefixes", "dipsgnn/smoke-v2.yaml", append(dipsgnnTiny, "privacy.transitions.count=edge", "privacy.transitions.window=0")},
		{"ids, A=0", "dipsgnn/smoke.yaml", append(dipsgnnTiny, "model.user_input=id", "model.adjacency=zero")},
	},
	"train gru4rec": {
		{"defaults", "", sessionTiny},
		{"leave-one-out", "dipsgnn/ml-1m-recbole-gru4rec.yaml", []string{"data.name=standin-tiny", "data.recipe=sasrec", "model.dim=4", "model.hidden=6", "model.length=10",
			"train.stride=3", "train.batch=64", "train.epochs=2", "run.save_steps=2", "run.workers=1"}},
	},
	"train hrnn": {
		{"init", "dipsgnn/ml-1m-hrnn.yaml", recurrentTiny},
		{"all, chosen on validation", "dipsgnn/ml-1m-all-hrnn.yaml", append(recurrentTiny, "train.select=validation", "train.validation=0.1", "train.refit=true")},
	},
	"train dpmf-exp": {
		{"ratings", "dipsgnn/smoke-dpmf-exp.yaml", []string{"run.workers=1"}},
		{"no noise", "dipsgnn/smoke-dpmf-exp.yaml", []string{"run.workers=1", "privacy.epsilon=.inf"}},
		{"noise in every epoch", "dipsgnn/smoke-dpmf-exp.yaml", []string{"run.workers=1", "privacy.draws=epoch"}},
	},
	"train dpmf-imp": {{"interactions", "dipsgnn/smoke-dpmf-imp.yaml", []string{"run.workers=1"}}},
	"train rdpgcf": {
		{"layers", "rdpgcf/smoke.yaml", append(graphTiny, "model.layers=2")},
		{"no noise", "rdpgcf/smoke.yaml", append(graphTiny, "privacy.epsilon=.inf")},
		{"sampled", "rdpgcf/smoke.yaml", append(graphTiny, "privacy.accounting=poisson", "privacy.count=step", "privacy.propagation=sampled",
			"privacy.conversion=tight", "train.sampler=poisson", "model.norm=right-clamp:5")},
		{"repaired", "rdpgcf/smoke.yaml", repairedTiny},
		{"repaired, edges apart", "rdpgcf/smoke.yaml", append(repairedTiny, "privacy.repaired.label_share=0.5", "privacy.repaired.graph_share=0", "privacy.repaired.count_share=0.2")},
	},
	"train lightgcn": {{"nothing chosen", "", append(graphTiny, "train.select=last", "train.patience=0")}, {"next item", "dipsgnn/ml-1m-lightgcn.yaml", pairsTiny}},
	"train edgerand": {
		{"selection", "", append(graphTiny, "perturb.epsilon=8")},
		{"private", "", append(graphTiny, "perturb.epsilon=8", "train.select=last", "train.patience=0")},
		{"true labels", "", append(graphTiny, "perturb.epsilon=8", "perturb.labels=raw")},
	},
	"train lapgraph": {
		{"private", "", append(graphTiny, "perturb.epsilon=8", "train.select=last", "train.patience=0")},
	},
	"train pricdsr": {
		{"perturbed", "", append(crossTiny, "auxiliary.epsilon=6")},
		{"sets", "", append(crossTiny, "auxiliary.epsilon=6", "auxiliary.mechanism=set", "auxiliary.items=300")},
		{"last items", "", append(crossTiny, "auxiliary.epsilon=6", "auxiliary.mechanism=sdp-user", "auxiliary.columns=2")},
		{"other users' rows", "", append(crossTiny, "auxiliary.kind=permuted", "auxiliary.mechanism=", "auxiliary.epsilon=0")},
	},
	"train dp-als": {
		{"all cells", "private/smoke-dp-als.yaml", []string{"run.workers=1"}},
		{"next item", "dipsgnn/ml-1m-dp-als.yaml", append(itemsTiny, "model.items=30", "model.dim=4", "model.rounds=2")},
		{"observed ratings", "private/smoke-dp-als.yaml", []string{"run.workers=1", "model.cells=observed", "model.values=ratings", "model.average=false", "model.shrink=0",
			"model.unobserved=0.1", "model.matrices=0.4", "model.common=0.1", "model.clip=1", "model.lambda_item=1"}},
	},
	"train dp-sgd-mf": {
		{"sampled", "private/smoke-dp-sgd-mf.yaml", []string{"train.steps=5", "run.workers=1"}},
		{"all users", "private/smoke-dp-sgd-mf.yaml", []string{"train.steps=4", "train.sample=1", "train.negatives=0", "train.optimizer=adam", "train.rate=0.05", "privacy.prefer=0.5", "run.workers=1"}},
		{"allocated users", "private/smoke-dp-sgd-mf.yaml",
			[]string{"train.steps=5", "train.sampling=allocation", "run.workers=1"}},
		{"drawn items", "private/smoke-dp-sgd-mf.yaml",
			[]string{"train.steps=5", "train.others=drawn", "run.workers=1"}},
		// Its steps release what those of drawn items do, where neighbours are compared: no release is seen alone here.
		{"deferred noise", "private/smoke-dp-sgd-mf.yaml", []string{"train.steps=5", "train.others=drawn",
			"train.noise=deferred", "train.average=false", "train.sample=0.1", "run.workers=1"}},
	},
	"train dpsgd": {
		{"samples", "dipsgnn/smoke-dpsgd.yaml", dpsgdTiny},
		{"users, ids", "dipsgnn/smoke-dpsgd.yaml", append(dpsgdTiny, "privacy.unit=user", "train.batch=40", "model.user_input=id")},
		{"interactions", "dipsgnn/smoke-v3-dpsgd.yaml", dpsgdTiny},
		{"allocated users", "dipsgnn/smoke-dpsgd.yaml",
			append(dpsgdTiny, "privacy.unit=user", "train.batch=40", "model.user_input=id",
				"train.sampling=allocation")},
	},
	"train dpae": {
		{"users", "gerai/smoke-dpae.yaml", []string{"train.epochs=2", "model.dim=4", "run.workers=1"}},
		{"allocated users", "gerai/smoke-dpae.yaml",
			[]string{"train.epochs=2", "model.dim=4", "train.sampling=allocation", "run.workers=1"}},
	},
	"train dpmf": {
		{"ratings", "gerai/smoke-dpmf.yaml", []string{"run.workers=1"}},
		{"public users", "gerai/smoke-dpmf.yaml", []string{"run.workers=1", "model.matrix=scaled", "model.rounds=1", "privacy.users=public"}},
	},
	"train dpne": {
		{"adjacency", "gerai/smoke-dpne.yaml", []string{"run.workers=1"}},
		{"public users", "gerai/smoke-dpne.yaml", []string{"run.workers=1", "model.rounds=1", "model.common=0.3", "privacy.users=public"}},
	},
	"attack exposure": {
		{"sweep", "exposure/smoke.yaml", slatesTiny},
		{"protected", "exposure/smoke.yaml", append(slatesTiny, "sweep.ratios=[]", "sweep.epsilons=[]", "sweep.select=[]", "sweep.replace=[]",
			"protect.replace=rr", "protect.epsilon=4", "protect.attacker=adaptive")},
	},
	"train gerai": {
		{"noise", "gerai/smoke.yaml", featuresTiny},
		{"one draw", "gerai/smoke.yaml", append(featuresTiny, "loss.noise=fm-once", "features.noise=none")},
		{"scalar", "gerai/smoke.yaml", append(featuresTiny, "loss.noise=scalar", "model.neighbours=4", "data.recipe=gerai-valid", "train.select=validation")},
		{"repaired", "gerai/smoke.yaml", append(featuresTiny, "features.form=attributes", "features.epsilon=2", "loss.form=exact", "loss.noise=off")},
	},
	"train gcn": {{"defaults", "", featuresTiny}},
	"attack attribute": {
		{"lists", "", listsTiny},
		{"interactions", "attribute/smoke.yaml", []string{"run.workers=1", "run.save_steps=1", "attributes=[{name: gender}]", "attack.attackers=[naive-bayes-gaussian]"}},
	},
	"attack membership": {
		{"interactions", "membership/smoke.yaml", []string{"run.workers=1", "eval.resamples=100"}},
		{"users", "membership/smoke.yaml", []string{"run.workers=1", "eval.resamples=100", "attack.level=user", "attack.strangers=popular", "attack.classifier=naive-bayes-gaussian"}},
	},
	"import lists": {
		{"measured", "", append(importedTiny, "rows.truth=../../testdata/imported/truth.csv", "rows.non_members=../../testdata/imported/others.tsv", "k=[3, 6]", "name=elsewhere", "program=a library")},
		{"no truth", "", importedTiny},
	},
	"import vectors": {
		{"inner products", "", append(importedVectors, "rows.truth=../../testdata/imported/truth.csv", "k=[3, 6]", "vectors.biases=[bias]")},
		{"cosines", "", append(importedVectors, "vectors.score=cosine")},
	},
	"attack link": {
		{"influence", "link/smoke.yaml", []string{"run.workers=1", "eval.resamples=100"}},
		{"no graph", "link/smoke.yaml", []string{"run.workers=1", "eval.resamples=100", "target.task=train ease", "target.set=[data.name=standin-tiny, data.recipe=rdpgcf]", "attack.base_rate=0.01"}},
	},
	"attack synthetic": {
		{"all attacks", "synthetic/smoke.yaml", []string{"run.workers=1"}},
	},
	"attack forgetting": {{"all ways", "forgetting/smoke.yaml", []string{"run.workers=1", "eval.resamples=100"}}},
	"audit run": {
		{"one run, users", "audit/smoke.yaml", []string{"run.workers=1", "audit.canaries=20", "audit.rows=5"}},
		{"many runs, an edge", "audit/smoke.yaml", []string{"run.workers=1", "target.task=train ease", "target.set=[data.name=standin-tiny, data.recipe=rdpgcf]",
			"audit.method=canary", "audit.unit=edge", "audit.runs=16"}},
		{"orders of a session", "audit/smoke.yaml", []string{"run.workers=1", "target.task=train gru4rec", "target.set=[data.name=standin-tiny, data.recipe=dipsgnn, profile=own, model.dim=4, train.epochs=1]",
			"audit.unit=order", "audit.rows=5", "audit.canaries=20"}},
		{"edges that others' scores show", "audit/smoke.yaml", []string{"run.workers=1", "target.task=train dpmf-imp", "target.set=[data.name=standin-tiny, model.dim=4, train.epochs=3]",
			"audit.unit=edge", "audit.sees=vectors", "audit.canaries=20"}},
		{"the release, drawn again", "audit/smoke.yaml", []string{"run.workers=1", "target.task=train dp-als",
			"target.set=[data.name=standin-tiny, data.recipe=rdpgcf, privacy.epsilon=4, privacy.items=20, model.dim=4]",
			"audit.method=canary", "audit.sees=release", "audit.runs=800"}},
		{"one release", "audit/smoke.yaml", []string{"run.workers=1", "audit.sees=release", "audit.canaries=400"}},
	},
	"audit pricdsr": {
		{"two cells", "", []string{"run.workers=1", "data.name=standin-tiny", "audit.canaries=500", "mechanism.differ=padding"}},
		{"whole rows", "", []string{"run.workers=1", "data.name=standin-tiny", "audit.canaries=500", "mechanism.name=sdp-user", "mechanism.epsilon=8", "mechanism.differ=row"}},
	},
	"audit gerai": {
		{"an attribute", "", []string{"run.workers=1", "data.name=standin-tiny", "audit.canaries=500"}},
		{"a row of attributes", "", []string{"run.workers=1", "data.name=standin-tiny", "audit.canaries=500", "mechanism.features.form=attributes", "mechanism.features.epsilon=2.5", "mechanism.differ=row"}},
	},
	"train blurme": {
		{"greedy", "", append(blurTiny, "blur.folds=2", "blur.choose=greedy")},
		{"several classes, chosen on validation", "", append(blurTiny, "data.recipe=gerai-valid", "train.select=validation", "blur.attribute=age", "blur.bands=[25, 45]",
			"blur.choose=ranked", "blur.history=true")},
	},
	"train rap": {
		{"one attribute", "", append(gameTiny, `attack.attributes=[{name: gender}]`, "attack.steps=2")},
		{"chosen on validation", "", append(gameTiny, "data.recipe=gerai-valid", "train.select=validation", "attack.attributes=[{name: age, bands: [25, 45]}, {name: occupation}]",
			"attack.k=6")},
	},
	"train dp-popularity": {
		{"counts", "private/smoke-dp-popularity.yaml", []string{"run.workers=1"}},
		{"next item", "dipsgnn/ml-1m-dp-popularity.yaml", itemsTiny},
	},
	"train dp-ease": {
		{"matrix", "private/smoke-dp-ease.yaml", []string{"run.workers=1"}},
		{"next item", "dipsgnn/ml-1m-dp-ease.yaml", append(itemsTiny, "model.items=30")},
	},
	"train dp-itemknn": {
		{"matrix", "private/smoke-dp-itemknn.yaml", []string{"run.workers=1"}},
		{"next item", "dipsgnn/ml-1m-dp-itemknn.yaml", append(itemsTiny, "model.items=30")},
	},
	"train sasrec": {
		{"smoke", "exposure/smoke-sasrec.yaml", []string{"train.epochs=2", "train.batch=64", "run.save_steps=2"}},
		{"next item", "dipsgnn/ml-1m-sasrec.yaml", append(sessionTiny, "train.batch=64")},
		{"windows", "exposure/smoke-sasrec.yaml", []string{"train.epochs=2", "train.batch=64", "train.stride=4", "run.save_steps=2"}},
	},
}

// settingsOf returns the small settings of a task: those in stops, or its defaults on generated data. Models of users
// and items are run under protocol next-item too, where they have a configuration of it.
func settingsOf(task run.Task) []stopped {
	if s := stops[task.String()]; s != nil {
		return s
	}
	has := func(path string) bool { return runtest.HasKey(task, path) }
	sets, next := sessionTiny, []string(nil)
	switch {
	case task.Verb != "train":
		return nil
	case has("data.target"):
		sets = crossTiny
	case has("eval.sigmoid") && has("train.epochs"):
		sets, next = graphTiny, pairsTiny
	case has("eval.sigmoid"):
		sets, next = closedTiny, itemsTiny
		if has("model.dim") {
			sets, next = append(sets, "model.dim=4"), append(next, "model.dim=4")
		}
		if has("model.rounds") {
			sets = append(sets, "model.rounds=3")
		}
	case has("model.user_dim"):
		sets = append(sets, "model.user_dim=2")
	}
	settings := []stopped{{"defaults", "", sets}}
	file := "dipsgnn/ml-1m-" + task.Name + ".yaml"
	if _, err := os.Stat(filepath.Join(configs, file)); next != nil && err == nil {
		settings = append(settings, stopped{"next item", file, next})
	}
	return settings
}

// What makes the settings small. One worker: others wait for a core where tests run
// beside each other.
var (
	dipsgnnTiny   = slices.Clip([]string{"model.dim=4", "model.user_dim=2", "train.epochs=2", "train.batch=300", "run.workers=1", "run.save_steps=3"})
	dpsgdTiny     = slices.Clip([]string{"model.dim=4", "model.user_dim=2", "train.batch=300", "run.workers=1", "run.save_steps=3"})
	sessionTiny   = slices.Clip([]string{"data.name=standin-tiny", "model.dim=4", "train.epochs=2", "train.batch=300", "run.workers=1", "run.save_steps=3"})
	recurrentTiny = slices.Clip(append(sessionTiny, "train.batch=20", "data.sessions.rows=9", "run.save_steps=60"))
	pairsTiny     = slices.Clip(append(sessionTiny, "train.batch=512", "train.rate=0.01"))
	itemsTiny     = slices.Clip([]string{"data.name=standin-tiny", "run.workers=1", "eval.k=[5,20]"})
	closedTiny    = slices.Clip([]string{"data.name=standin-tiny", "data.recipe=rdpgcf", "run.workers=1", "eval.k=[5,20]"})
	graphTiny     = slices.Clip(append(closedTiny, "model.dim=4", "train.epochs=2", "train.batch=512", "train.rate=0.01", "run.save_steps=2"))
	repairedTiny  = slices.Clip(append(graphTiny, "profile=repaired", "privacy.method=repaired", "privacy.accounting=poisson", "privacy.count=joint",
		"privacy.conversion=tight", "model.norm=right-clamp:5", "model.normalise_rows=true", "train.sampler=poisson", "train.negatives=all", "train.patience=0",
		"train.select=last", "release.kinds=[noisy]", "release.average=1", "eval.every=false"))
	featuresTiny = slices.Clip([]string{"data.name=standin-tiny", "model.dim=4", "train.epochs=2", "train.batch=512", "eval.k=[5,20]", "eval.candidates=40", "run.workers=1", "run.save_steps=2"})
	crossTiny    = slices.Clip([]string{"data.name=standin-cross", "data.target=left", "data.auxiliary=right", "data.length=14", "model.dim=8", "model.window=3",
		"train.epochs=2", "train.batch=256", "train.rate=0.01", "eval.negatives=20", "run.workers=1", "run.save_steps=20"})
	listsTiny = slices.Clip([]string{"files.lists=../../testdata/attack/lists.tsv", "files.interactions=../../testdata/attack/interactions.csv",
		"files.attributes=../../testdata/attack/attributes.tsv", "attributes=[{name: gender, values: [M, F]}, {name: age, bands: [35, 45]}, {name: town}]",
		"attack.sees=[interactions+lists, lists]", "attack.k=[3, 6]", "attack.attackers=[dnn, naive-bayes-bernoulli]", "attack.repeats=2", "run.workers=1", "run.save_steps=3"})
	importedTiny = slices.Clip([]string{"recs=../../testdata/imported/lists.tsv", "rows.train=../../testdata/imported/train.tsv", "run.workers=1"})

	importedVectors = slices.Clip([]string{"vectors.files=[../../testdata/imported/vectors.npz]", "vectors.ids=[../../testdata/imported/users.txt, ../../testdata/imported/items.txt]",
		"rows.train=../../testdata/imported/train.tsv", "run.workers=1"})

	blurTiny   = slices.Clip(append(featuresTiny, "train.rate=0.01", "blur.folds=1"))
	gameTiny   = slices.Clip(append(featuresTiny, "train.rate=0.01", "attack.users=32", "attack.read=5", "attack.dim=4"))
	slatesTiny = slices.Clip([]string{"attack.dim=8", "attack.ffn=8", "train.epochs=2", "train.batch=256", "eval.k=[5,10]", "eval.vocabulary=[full,logged]",
		"eval.resamples=100", "run.workers=1", "run.save_steps=2"})
)

// Every task, stopped anywhere, has a ledger that says no less than the finished run's
// and no less than was shown. A new task has settings in stops, unless its keys tell them.
func TestLedgersOfStoppedRuns(t *testing.T) {
	for _, task := range All() {
		settings := settingsOf(task)
		if len(settings) == 0 {
			t.Errorf("%s is stopped under no setting: add one to stops", task)
		}
		for _, s := range settings {
			t.Run(task.String()+", "+s.name, func(t *testing.T) {
				t.Parallel()
				o := run.Options{Sets: s.sets}
				if s.config != "" {
					o.Config = filepath.Join(configs, s.config)
				}
				runtest.Stops(t, task, o)
			})
		}
	}
}
