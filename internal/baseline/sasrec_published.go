package baseline

import (
	"privrec/internal/dataset"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/report"
	"privrec/internal/train"
)

// publishedSource says where the comparable numbers come from. It is a peer-reviewed rerun,
// and not the SASRec paper, whose tables rank among 100 sampled items.
const publishedSource = "Klenitskiy and Vasilev, RecSys 2023 (repository antklen/sasrec-bert4rec-recsys23): one seed, 200 items read, full ranking without the history"

// comparable sets a run under leave-one-out beside that rerun, where both have the same data
// and setting.
func (c SASRecConfig) comparable(x *nextitem.Experiment) {
	p := c.published(x.Data.Source.Level)
	if p == nil {
		return
	}
	x.Standing.Printed, x.Standing.Stated = true, c.rerun()
	x.Table = nextitem.Table{Row: func(string, string) map[string]float64 { return p }, From: publishedSource}
}

// rerun returns how long that training lasted: to epoch 63, or with one negative 53, whatever
// ended it.
func (c SASRecConfig) rerun() train.Length {
	if c.Train.Loss == LossSampled {
		return train.Length{Epochs: 53, Patience: 1}
	}
	return train.Length{Epochs: 63, Patience: 1}
}

// published returns that rerun's scores for a setting on the same rows, split and ranking.
// They are of MovieLens 1M with both losses. Nil where the setting or the data differ.
func (c SASRecConfig) published(level dataset.Level) map[string]float64 {
	if !report.AllowsDelta(level) || c.Data.Name != "ml-1m" || c.Data.Recipe != "sasrec" || !c.Eval.MaskSeen ||
		c.Model.Length != 200 || c.Model.Dim != 64 || c.Model.Blocks != 2 || c.Model.Heads != 1 {
		return nil
	}
	if c.Train.Loss == LossSampled {
		return map[string]float64{"HR@10": 0.2500, "NDCG@10": 0.1341}
	}
	return map[string]float64{"HR@10": 0.3152, "NDCG@10": 0.1821}
}
