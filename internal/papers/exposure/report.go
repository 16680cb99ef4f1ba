package exposure

import (
	"fmt"
	"math"
	"strings"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/dataset/slate"
	"privrec/internal/metrics"
	"privrec/internal/report"
)

// document returns an outcome as a report.
func (x *attackRun) document(o *Outcome) (*report.Document, error) {
	d := &report.Document{
		Title:    fmt.Sprintf("Exposure attack on %s: %s", x.Set.Name, o.Method),
		Subtitle: fmt.Sprintf("%s; seed %d", x.standing.Text, uint64(x.Env.Seed)),
		Level:    x.Set.Level,
		Facts:    x.facts(o),
		Notes:    append([]string{}, x.Set.Notes...),
	}
	for _, p := range o.Protocols {
		tables, err := p.Tables(o.Metrics, x.Set.Level)
		if err != nil {
			return nil, err
		}
		d.Tables = append(d.Tables, tables...)
		d.Figures = append(d.Figures, p.Figure(o.Method, x.cfg.Eval.K))
	}
	d.Tables = append(d.Tables, o.Data.Table())
	if o.Figures != nil {
		d.Tables = append(d.Tables, o.Figures.tables(x.Names(), x.drawn()[0])...)
		d.Figures = append(d.Figures, o.Figures.plots(x.drawn())...)
	}
	if len(o.Epochs) > 0 {
		d.Figures = append(d.Figures, o.losses())
	}
	d.Notes = append(d.Notes, x.cautions()...)
	return d, nil
}

// drawn returns the metrics that the paper's figures show: recall and NDCG at the middle
// cutoff.
func (x *attackRun) drawn() []string {
	k := x.cfg.Eval.K[len(x.cfg.Eval.K)/2]
	return []string{metrics.Metric{Kind: metrics.Recall, K: k}.String(),
		metrics.Metric{Kind: metrics.NDCG, K: k}.String()}
}

// facts returns facts about the attacked slates, the length of training, and the leaks.
func (x *attackRun) facts(o *Outcome) []report.Fact {
	t := x.cfg.Train
	trained := fmt.Sprintf("%d pairs", o.Data.Trained)
	if o.Data.Trained < o.Data.TrainPairs {
		trained += fmt.Sprintf(", a sample of %.4g %% of %d", 100*t.Sample, o.Data.TrainPairs)
	}
	ended := "all of them run"
	if o.Stopped {
		ended = fmt.Sprintf("stopped after %d", len(o.Epochs))
	}
	epochs := report.Fact{Label: "epochs", Value: fmt.Sprintf("cap %d, %s", o.Cap, ended),
		Note: fmt.Sprintf("the attack of epoch %d is reported, %d steps in all", o.Selected, o.Steps)}
	taught := report.Fact{Label: "trained on", Value: trained, Note: "of other users"}
	if o.Cap == 0 {
		epochs = report.Fact{Label: "epochs", Value: "none", Note: "random weights, never trained"}
		taught.Value, taught.Note = "nothing", "the floors count "+trained+" of other users"
	}
	attacked := fmt.Sprintf("%d pairs of %d shown and %d clicked items", o.Data.TestPairs, x.Train.T, x.Train.L)
	if s := x.cfg.Eval.Sample; s > 0 {
		attacked += fmt.Sprintf(", of a sample of %.4g %% of the users", 100*s)
	}
	facts := []report.Fact{
		{Label: "attacked", Value: attacked,
			Note: fmt.Sprintf("%d of them hold no item that is new to the attacker; %d items can be guessed",
				o.Data.Complete, o.Data.Items)},
		taught,
		epochs,
	}
	if p := o.Protection; p != nil {
		note := fmt.Sprintf("%.1f %% of the positions hold another item; the attacker is %s", 100*p.Replaced,
			p.Attacker)
		facts = append(facts, report.Fact{Label: "protected", Value: p.Mechanism, Note: note})
		if !math.IsNaN(float64(p.Before)) {
			facts = append(facts, report.Fact{Label: "accuracy",
				Value: fmt.Sprintf("%.4f of the positions", float64(p.Accuracy)),
				Note:  fmt.Sprintf("of recommendations, %.4f before", float64(p.Before))})
		}
	}
	return append(facts, o.Protocols[0].Answer(o.unfinished(t), x.cfg.Eval.K, x.cfg.Eval.Confidence)...)
}

// losses returns a figure of the losses of every epoch.
func (o *Outcome) losses() report.Figure {
	training, valid := report.Line{Name: "training"}, report.Line{Name: "validation"}
	for _, e := range o.Epochs {
		at := float64(e.Epoch)
		training.X, training.Y = append(training.X, at), append(training.Y, e.Loss)
		for _, s := range e.Scores {
			valid.X, valid.Y = append(valid.X, at), append(valid.Y, s.Value)
		}
	}
	f := report.Figure{Title: "Loss", X: "epoch", Y: "mean (nats)", Lines: []report.Line{training}}
	if len(valid.X) > 0 {
		f.Lines = append(f.Lines, valid)
	}
	return f
}

// cautions returns notes on effects of a setting that its reader may not expect.
func (x *attackRun) cautions() (notes []string) {
	c := x.cfg
	for _, v := range c.Eval.Vocabulary {
		if v == attack.VocabularyLogged {
			notes = append(notes, "logged: candidates are the victim's own log, which holds the answers: its scores "+
				"are no leak by themselves")
			break
		}
	}
	if x.Train.Len() < x.Whole.Len() {
		notes = append(notes, "the floors count all training pairs, the attack is trained on a sample of them")
	}
	if c.Train.WarmUp > 0 {
		notes = append(notes, fmt.Sprintf("the learning rate rises for %d steps to %.3g and falls from there",
			c.Train.WarmUp, c.Train.Rate/math.Sqrt(float64(c.Train.WarmUp))))
	}
	if len(c.leftOut()) > 0 {
		notes = append(notes, "pairs are left out of the average ("+strings.Join(c.leftOut(), ", ")+
			"): the scores are those of easier pairs")
	}
	if x.protection != nil && c.Protect.Attacker == AttackerClean {
		notes = append(notes, "the attacker was trained on slates as they were: one who knows of the protection "+
			"trains on protected ones, --set protect.attacker=adaptive")
	}
	return notes
}

// leftOut returns the reasons why a setting leaves pairs out of the average.
func (c Config) leftOut() (why []string) {
	if c.dropsRepeated() {
		why = append(why, "those with a repeated click")
	}
	if c.Eval.Early == Drop {
		why = append(why, "those whose decoder ended early")
	}
	if c.Data.Unknown == slate.UnknownDrop {
		why = append(why, "those with an item that is new to the attacker")
	}
	return why
}
