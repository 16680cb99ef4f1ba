package claims

import (
	"fmt"
	"strconv"
	"strings"
)

// words writes what a part states.
func (p *Part) words(metric string) string {
	list, end := strings.Join(p.Lines, ", "), " ("+metric+")"
	if p.Most {
		end = ", in most comparisons" + end
	}
	switch p.Says {
	case "above":
		text := p.Lines[0] + " above " + listed(p.Lines[1:])
		switch {
		case p.By > 0:
			text = fmt.Sprintf("%s more than %s above %s", p.Lines[0], percent(p.By), listed(p.Lines[1:]))
		case p.By < 0:
			text = fmt.Sprintf("%s at most %s below %s", p.Lines[0], percent(-p.By), listed(p.Lines[1:]))
		}
		for i, e := range p.Except {
			text += map[bool]string{true: ", except at ", false: " and "}[i == 0] + fmt.Sprintf("%v on %s", e.At,
				e.Data)
		}
		if p.P > 0 {
			text += fmt.Sprintf(", p < %g", p.P)
		}
		return text + end
	case "below":
		if p.By != 0 {
			return fmt.Sprintf("%s more than %s below %s%s", p.Lines[0], percent(p.By), listed(p.Lines[1:]), end)
		}
		return p.Lines[0] + " below " + listed(p.Lines[1:]) + end
	case "reaches":
		return list + " above " + percent(p.By) + end
	case "ordered":
		return strings.Join(p.Lines, " above ") + end
	case "near":
		return fmt.Sprintf("%s within %s of %s%s", p.Lines[0], percent(p.By), listed(p.Lines[1:]), end)
	case "gains":
		var gained []string
		for k := 0; k < len(p.Lines); k += 2 {
			gained = append(gained, p.Lines[k]+" on "+p.Lines[k+1])
		}
		return fmt.Sprintf("mean gain of %s above %s%s", strings.Join(gained, ", "), percent(p.By), end)
	case "widens":
		return p.Lines[0] + " gains on " + p.Lines[1] + end
	case "dips":
		return fmt.Sprintf("%s lowest at %v%s", list, p.At[0], end)
	case "peaks":
		return fmt.Sprintf("%s highest at %v%s", list, p.At[0], end)
	case "keeps", "loses":
		where := "the last value"
		if len(p.At) > 0 {
			where = strings.ReplaceAll(strings.Trim(fmt.Sprint(p.At), "[]"), " ", " and ")
		}
		if p.Says == "keeps" {
			return fmt.Sprintf("%s keeps at least %.4g %% of its first value at %s%s", list, 100*(1-p.Share), where,
				end)
		}
		return fmt.Sprintf("%s loses at least %.4g %% of its first value at %s%s", list, 100*p.Share, where, end)
	case "epsilon":
		if p.Claimed > 0 {
			return fmt.Sprintf("%s keeps epsilon %g for one %s", list, p.Claimed, p.Unit)
		}
		return fmt.Sprintf("%s keeps the epsilon that its runs claim for one %s", list, p.Unit)
	}
	if p.Ends {
		return list + " " + p.Says + " from the first value to the last" + end
	}
	return list + " " + p.Says + end
}

// percent writes a share as in "15.8 %".
func percent(x float64) string { return strconv.FormatFloat(100*x, 'g', 5, 64) + " %" }

// listed writes words as in "a, b and c".
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
