// Package papers lists what the program reproduces. A paper is a folder beside
// this file and one line in All. Baselines get here the tables that print them.
package papers

import (
	"slices"

	"privrec/internal/baseline"
	"privrec/internal/papers/dipsgnn"
	"privrec/internal/papers/dipsgnn/dpmf"
	"privrec/internal/papers/dipsgnn/dpsgd"
	"privrec/internal/papers/exposure"
	"privrec/internal/papers/gerai"
	"privrec/internal/papers/gerai/attack"
	"privrec/internal/papers/gerai/blurme"
	"privrec/internal/papers/gerai/dpae"
	"privrec/internal/papers/gerai/dpfactor"
	"privrec/internal/papers/gerai/rap"
	"privrec/internal/papers/pricdsr"
	"privrec/internal/papers/rdpgcf"
	"privrec/internal/private"
	"privrec/internal/private/synthetic"
	"privrec/internal/protocol/auditing"
	"privrec/internal/protocol/imported"
	"privrec/internal/protocol/link"
	"privrec/internal/protocol/membership"
	"privrec/internal/run"
)

// All returns every task of every paper, of the baselines, and of imported models, in the order in which they are
// listed.
func All() []run.Task {
	train := slices.Concat(
		[]run.Task{dipsgnn.Task(), dpsgd.Task()},
		baseline.Sessions(dipsgnn.Tables()),
		[]run.Task{baseline.HRNN(dipsgnn.Tables())},
		dpmf.Tasks(),
		rdpgcf.Tasks(),
		baseline.TopN(rdpgcf.Tables(), dipsgnn.Tables()),
		pricdsr.Tasks(),
		gerai.Tasks(),
		[]run.Task{dpae.Task()},
		dpfactor.Tasks(),
		[]run.Task{blurme.Task(gerai.Tables()), rap.Task(gerai.Tables())},
		private.Tasks(),
		imported.Tasks(),
	)
	sasrec := baseline.SASRec(dipsgnn.Tables())
	others := append(slices.Clone(train), sasrec)
	for _, attack := range attacks { // their runs are known, and make no recommendations
		t := attack(nil)
		others = append(others, run.Task{Verb: t.Verb, Name: t.Name})
	}
	all := train
	for _, attack := range attacks {
		all = append(all, attack(others))
	}
	return append(all, sasrec)
}

// attacks lists functions that return the attacks on runs of others, and the audits.
var attacks = []func(others []run.Task) run.Task{
	exposure.Task,
	attack.Task,
	membership.Task,
	link.Task,
	synthetic.Attack,
	func([]run.Task) run.Task { return baseline.Forgetting() },
	auditing.Task,
	func([]run.Task) run.Task { return pricdsr.AuditTask() },
	func([]run.Task) run.Task { return gerai.AuditTask() },
}
