package als

import "math"

// basis accumulates the rounds of "all" into directions and their weights. Let C = sum over users of p_u p_u', with p_u
// the user's row of weights. A round that begins with orthonormal V releases about C V, which the next V spans:
// subspace iteration with noise. In later rounds V hardly turns, so C V of an earlier round, turned into this round's
// basis, is a second observation of the same value. The observations are averaged by their noise.
type basis struct {
	items     table   // V of the last round (m, d)
	sum       table   // released C V, averaged (m, d)
	precision float64 // 1/deviation² of the average
	deviation float64
}

// add adds the release of a round, without its part along the popular direction. average says whether this round and
// later ones are averaged.
func (z *basis) add(items, b table, popular []float64, deviation float64, average bool) {
	along := table{1, len(popular), popular}.times(b)
	for i, p := range popular {
		axpy(-p, along.x, b.row(i))
	}
	own := 1 / (deviation * deviation)
	if average && z.precision > 0 {
		before := z.sum.times(z.items.crossed(items))
		for i, v := range before.x {
			b.x[i] = (own*b.x[i] + z.precision*v) / (own + z.precision)
		}
		own += z.precision
	}
	z.items, z.sum, z.deviation = items, b, 1/math.Sqrt(own)
	if z.precision = 0; average {
		z.precision = own
	}
}

// factors returns the directions in which users differ (m, d), as orthonormal columns, and the kept share of each. C is
// estimated by B (V'B)^-1 B' (Nyström). A direction with eigenvalue e keeps the share sqrt(1 - (shrink s sqrt(m) /
// e)²), and none where e is smaller. s sqrt(m) is about the largest singular value of noise of deviation s, so a
// direction below it is noise (after Gavish, Donoho, "Optimal shrinkage of singular values", 2017). The penalty of
// users' vectors keeps e/(e + lambda times the largest e) of the rest.
func (z *basis) factors(shrink, lambda float64) (directions table, keep []float64, err error) {
	k := z.items.crossed(z.sum)
	for i := range k.rows {
		for j := range i {
			v := (k.row(i)[j] + k.row(j)[i]) / 2
			k.row(i)[j], k.row(j)[i] = v, v
		}
	}
	values, vectors, err := k.eigen()
	if err != nil {
		return table{}, nil, err
	}
	half := z.sum.times(vectors) // columns divided by the root of their value: C is about half half'
	edge := z.deviation * math.Sqrt(float64(half.cols))
	for i := range half.rows {
		for j := range half.row(i) {
			half.row(i)[j] /= math.Sqrt(math.Max(values[j], edge))
		}
	}
	if values, vectors, err = half.gram(1).eigen(); err != nil { // of half'half, those of half half'
		return table{}, nil, err
	}
	directions, keep = half.times(vectors), make([]float64, len(values))
	noise := shrink * z.deviation * math.Sqrt(float64(half.rows))
	for j, e := range values {
		if !(e > 0) {
			continue
		}
		keep[j] = math.Sqrt(math.Max(0, 1-noise/e*(noise/e))) * e / (e + lambda*values[len(values)-1])
		for i := range directions.rows {
			directions.row(i)[j] /= math.Sqrt(e)
		}
	}
	return directions, keep, nil
}
