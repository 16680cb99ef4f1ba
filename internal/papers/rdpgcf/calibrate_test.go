package rdpgcf

import (
	"fmt"
	"math"
	"testing"
)

// The training sets that the numbers are of (80 % of all edges).
var specSets = []struct {
	name  string
	edges int64
	users int
	items int
}{{"ML-1M", 800_167, 6_040, 3_706}, {"Gowalla", 810_128, 29_858, 40_981}, {"Yelp2018", 1_237_259, 31_668, 38_048}}

func specCalibration(edges int64, accounting, count string) Calibration {
	return Calibration{Accounting: accounting, Count: count, Conversion: ConversionClassic, Delta: 1e-5,
		Edges: edges, Batch: 1024, Epochs: 300, Layers: 3, View: 1, Joint: math.Sqrt2}
}

// within fails unless got is within a share of want.
func within(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if !(math.Abs(got-want) <= share*math.Abs(want)) {
		t.Errorf("%s is %.6g, want %.6g within %g", what, got, want, share)
	}
}

const half = 0.005 // a half per cent, of numbers printed with three or four digits

// TestSigmaOfSpecification is the whole table of section 5.
func TestSigmaOfSpecification(t *testing.T) {
	epsilons := []float64{1, 3, 5, 10}
	for _, c := range []struct {
		accounting, count string
		sigma             [3][4]float64 // by data set and epsilon
	}{
		{AccountingPrinted, CountLayer, [3][4]float64{{14.70, 3.756, 2.376, 1.399}, {14.46, 3.733, 2.363, 1.392}, {9.595, 3.030, 1.951, 1.175}}},
		{AccountingPrinted, CountViews, [3][4]float64{{46.25, 5.319, 3.295, 1.864}, {42.16, 5.284, 3.276, 1.854}, {15.60, 4.245, 2.674, 1.550}}},
		{AccountingPoisson, CountLayer, [3][4]float64{{5.31, 1.952, 1.319, 0.880}, {5.278, 1.941, 1.313, 0.877}, {4.291, 1.619, 1.126, 0.785}}},
		{AccountingPoisson, CountViews, [3][4]float64{{7.48, 2.672, 1.744, 1.087}, {7.429, 2.656, 1.734, 1.083}, {6.026, 2.187, 1.457, 0.946}}},
		{AccountingNone, CountLayer, [3][4]float64{{3129, 1166, 748, 419}, {3148, 1173, 753, 422}, {3890, 1450, 930, 521}}},
		{AccountingNone, CountViews, [3][4]float64{{4424, 1649, 1058, 593}, {4452, 1659, 1064, 597}, {5502, 2051, 1315, 737}}},
	} {
		for s, set := range specSets {
			a := specCalibration(set.edges, c.accounting, c.count)
			for e, epsilon := range epsilons {
				sigma, err := a.Sigma(epsilon)
				if err != nil {
					t.Errorf("%s %s/%s at %v: %v", set.name, c.accounting, c.count, epsilon, err)
					continue
				}
				within(t, fmt.Sprintf("sigma of %s by %s/%s at %v", set.name, c.accounting, c.count, epsilon), sigma, c.sigma[s][e], half)
				if back, err := a.EpsilonOf(sigma); err != nil || back > epsilon*(1+1e-12) {
					t.Errorf("%s %s/%s: sigma %v is worth %v (%v), the claim is %v", set.name, c.accounting, c.count, sigma, back, err, epsilon)
				}
			}
		}
	}
}
