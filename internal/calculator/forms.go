package calculator

import (
	"privrec/internal/calculator/eventlog"
	"privrec/internal/privacy"
	"privrec/internal/privacy/budget"
)

// Forms of the answers' pages in JSON. A page is laid out by hand, so tests compare pages with these.

// ending closes every page.
type ending struct {
	Statement string   `json:"statement"`
	Warnings  []string `json:"warnings"`
}

// numbersForm has the numbers of questions, under the keys of Asked.Numbers. A page has those that
// its question has.
type numbersForm struct {
	Sigma          float64 `json:"sigma,omitempty"`
	Sensitivity    float64 `json:"sensitivity,omitempty"`
	Multiplier     float64 `json:"noise_multiplier,omitempty"`
	SamplingRate   float64 `json:"sampling_rate,omitempty"`
	Scale          float64 `json:"scale,omitempty"`
	Clip           float64 `json:"clip,omitempty"`
	ReleaseEpsilon float64 `json:"release_epsilon,omitempty"`
	Categories     int64   `json:"categories,omitempty"`
	Steps          int64   `json:"steps,omitempty"`
	Delta          float64 `json:"delta,omitempty"`
	Alpha          float64 `json:"alpha,omitempty"`
	Trials         float64 `json:"trials,omitempty"`
	Eta            float64 `json:"eta,omitempty"`
	Records        int64   `json:"records,omitempty"`
	Times          int64   `json:"times,omitempty"`
	Most           int64   `json:"most,omitempty"`
	Batch          int64   `json:"batch,omitempty"`
	Epochs         int64   `json:"epochs,omitempty"`
	Prior          float64 `json:"prior,omitempty"`
	AtEpsilon      float64 `json:"at_epsilon,omitempty"`
	Group          int64   `json:"group,omitempty"`
	Advantage      float64 `json:"advantage,omitempty"`
	TPR            float64 `json:"tpr,omitempty"`
	FPR            float64 `json:"fpr,omitempty"`
	Points         int64   `json:"points,omitempty"`
	Horizon        int64   `json:"horizon,omitempty"`
	Participations int64   `json:"participations,omitempty"`
	Apart          int64   `json:"apart,omitempty"`
	Bands          int64   `json:"bands,omitempty"`
	Buffers        int64   `json:"buffers,omitempty"`
	ErrorLast      float64 `json:"error_last,omitempty"`
	ErrorMean      float64 `json:"error_mean,omitempty"`
	ErrorLastPlain float64 `json:"error_last_plain,omitempty"`
	ErrorMeanPlain float64 `json:"error_mean_plain,omitempty"`
	ErrorSingle    float64 `json:"error_single_releases,omitempty"`
}

// echoForm holds the fields that echo and bound write.
type echoForm struct {
	numbersForm
	Strategy string           `json:"strategy,omitempty"`
	Weights  []float64        `json:"weights,omitempty"`
	Decays   []float64        `json:"decays,omitempty"`
	Sampling privacy.Sampling `json:"sampling,omitempty"`
	Theorem  string           `json:"theorem,omitempty"`
}

// spentForm holds the fields that guarantee writes.
type spentForm struct {
	Epsilon      privacy.Number        `json:"epsilon"`
	Lower        privacy.Number        `json:"epsilon_lower,omitempty"`
	Delta        float64               `json:"delta"`
	Accountant   string                `json:"accountant"`
	Order        privacy.Number        `json:"order,omitempty"`
	Direction    string                `json:"direction,omitempty"`
	Neighbouring privacy.Neighbouring  `json:"neighbouring"`
	Unit         privacy.Unit          `json:"unit"`
	Unprotected  []privacy.Unprotected `json:"unprotected,omitempty"`
}

// riskForm is a Risk.
type riskForm struct {
	Prior     float64 `json:"prior"`
	Advantage float64 `json:"advantage"`
	Right     float64 `json:"right_guess"`
	Rates     []Rate  `json:"rates"`
	Curve     string  `json:"curve"`
	ending
}

// guaranteeForm is a Guarantee.
type guaranteeForm struct {
	spentForm
	DeltaLower privacy.Number `json:"delta_lower,omitempty"`
	Mu         float64        `json:"gdp_mu,omitempty"`
	CLT        float64        `json:"gdp_mu_clt,omitempty"`
	Rho        float64        `json:"zcdp_rho,omitempty"`
	Risk       *Risk          `json:"risk,omitempty"`
	Exact      float64        `json:"epsilon_exact,omitempty"`
	echoForm
	ending
}

// noiseForm is a Noise.
type noiseForm struct {
	guaranteeForm
	Epsilon   float64 `json:"target_epsilon,omitempty"`
	Advantage float64 `json:"target_advantage,omitempty"`
	TPR       float64 `json:"target_true_positive_rate,omitempty"`
	FPR       float64 `json:"target_false_positive_rate,omitempty"`
}

// divergenceForm is a Divergence.
type divergenceForm struct {
	Nats         float64              `json:"rdp"`
	Alpha        float64              `json:"alpha"`
	Accountant   string               `json:"accountant"`
	Neighbouring privacy.Neighbouring `json:"neighbouring"`
	Unit         privacy.Unit         `json:"unit"`
	echoForm
	ending
}

// selectionForm is a Selection.
type selectionForm struct {
	spentForm
	Single privacy.Number `json:"epsilon_single"`
	Gamma  float64        `json:"gamma"`
	echoForm
	ending
}

// drawingForm is a Drawing.
type drawingForm struct {
	Out    string      `json:"out"`
	Over   string      `json:"over"`
	Points []pointForm `json:"points"`
	echoForm
	Neighbouring privacy.Neighbouring `json:"neighbouring"`
	Unit         privacy.Unit         `json:"unit"`
	ending
}

// pointForm is a point of a Drawing: the number on the axis, and what is drawn by accountant.
type pointForm struct {
	numbersForm
	Epsilon map[string]float64 `json:"epsilon,omitempty"`
	TPR     map[string]float64 `json:"true_positive_rate,omitempty"`
}

// unitForm is the guarantee of a unit in a ledger or a file of events.
type unitForm struct {
	spentForm
	Protected     privacy.Number `json:"epsilon_protected,omitempty"`
	Risk          *Risk          `json:"risk,omitempty"`
	RiskProtected *Risk          `json:"risk_protected,omitempty"`
	gapForm
	ending
}

// gapForm holds the fields that mark writes.
type gapForm struct {
	AtLeast    bool   `json:"at_least,omitempty"`
	Unfinished bool   `json:"unfinished,omitempty"`
	Status     string `json:"run_status,omitempty"`
}

// ledgerForm holds the fields of every LedgerAccount.
type ledgerForm struct {
	Guarantees []unitForm           `json:"guarantees"`
	Ledger     string               `json:"ledger"`
	Entries    int                  `json:"entries"`
	Noise      privacy.Noise        `json:"noise"`
	Public     []privacy.Assumption `json:"taken_as_public,omitempty"`
}

// oneForm is a LedgerAccount about one unit.
type oneForm struct {
	unitForm
	ledgerForm
}

// severalForm is a LedgerAccount about several units, or none.
type severalForm struct {
	Delta float64 `json:"delta"`
	ledgerForm
	gapForm
	ending
}

// eventsForm is an EventsAccount.
type eventsForm struct {
	spentForm
	Protected     privacy.Number       `json:"epsilon_protected,omitempty"`
	Assumed       []string             `json:"assumed,omitempty"`
	Otherwise     []otherwiseForm      `json:"otherwise,omitempty"`
	Bracket       *[2]float64          `json:"bracket,omitempty"`
	Renyi         privacy.Number       `json:"epsilon_rdp,omitempty"`
	Stated        privacy.Number       `json:"epsilon_stated,omitempty"`
	Claimed       privacy.Number       `json:"epsilon_claimed,omitempty"`
	Risk          *Risk                `json:"risk,omitempty"`
	RiskProtected *Risk                `json:"risk_protected,omitempty"`
	Public        []privacy.Assumption `json:"taken_as_public,omitempty"`
	Events        string               `json:"events"`
	Faults        []eventlog.Fault     `json:"faults"`
	Remarks       []string             `json:"remarks"`
	ending
}

// otherwiseForm is an Otherwise.
type otherwiseForm struct {
	If           string               `json:"if"`
	Epsilon      privacy.Number       `json:"epsilon"`
	Neighbouring privacy.Neighbouring `json:"neighbouring"`
}

// budgetForm is a Budget.
type budgetForm struct {
	Epsilon      float64              `json:"epsilon"`
	Delta        float64              `json:"delta"`
	Unit         privacy.Unit         `json:"unit"`
	Neighbouring privacy.Neighbouring `json:"neighbouring"`
	Data         string               `json:"data"`
	SHA256       string               `json:"sha256"`
	Filter       budget.Rule          `json:"filter"`
	Order        float64              `json:"order"`
	Slack        float64              `json:"slack"`
	Spent        float64              `json:"spent"`
	Limit        float64              `json:"limit"`
	Left         float64              `json:"left"`
	Runs         []spending           `json:"runs"`
	ending
}

// JSONForms returns the types that MarshalJSON writes.
func (Budget) JSONForms() []any { return []any{budgetForm{}} }

// JSONForms returns the types that MarshalJSON writes.
func (*Risk) JSONForms() []any { return []any{riskForm{}} }

// JSONForms returns the types that MarshalJSON writes.
func (*Guarantee) JSONForms() []any { return []any{guaranteeForm{}} }

// JSONForms returns the types that MarshalJSON writes.
func (*Noise) JSONForms() []any { return []any{noiseForm{}} }

// JSONForms returns the types that MarshalJSON writes.
func (*Divergence) JSONForms() []any { return []any{divergenceForm{}} }

// JSONForms returns the types that MarshalJSON writes.
func (*Selection) JSONForms() []any { return []any{selectionForm{}} }

// JSONForms returns the types that MarshalJSON writes.
func (*Drawing) JSONForms() []any { return []any{drawingForm{}} }

// JSONForms returns the types that MarshalJSON writes.
func (*LedgerAccount) JSONForms() []any { return []any{oneForm{}, severalForm{}} }

// JSONForms returns the types that MarshalJSON writes.
func (*EventsAccount) JSONForms() []any { return []any{eventsForm{}} }
