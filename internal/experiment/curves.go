package experiment

import "privrec/internal/report"

// Curves draws the loss of every epoch, in the given unit. It draws the scores of epochs too,
// where they were ranked.
func Curves(method, unit string, epochs []Epoch) []report.Figure {
	if len(epochs) == 0 {
		return nil
	}
	loss := report.Line{Name: method}
	var scores []report.Line
	at := map[string]int{}
	for _, e := range epochs {
		x := float64(e.Epoch)
		loss.X, loss.Y = append(loss.X, x), append(loss.Y, e.Loss)
		for _, s := range e.Scores {
			k, ok := at[s.Name]
			if !ok {
				k = len(scores)
				at[s.Name], scores = k, append(scores, report.Line{Name: s.Name})
			}
			scores[k].X, scores[k].Y = append(scores[k].X, x), append(scores[k].Y, 100*s.Value)
		}
	}
	figures := []report.Figure{{Title: "Training loss", X: "epoch", Y: unit, Lines: []report.Line{loss}}}
	if len(scores) > 0 {
		figures = append(figures, report.Figure{Title: "Ranking by epoch", X: "epoch", Y: "percent", Lines: scores})
	}
	return figures
}
