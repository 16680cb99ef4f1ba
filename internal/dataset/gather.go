package dataset

// gathered returns the values of a column at rows; a nil column stays nil.
func gathered[T any](col []T, rows []int) []T {
	if col == nil {
		return nil
	}
	out := make([]T, 0, len(rows))
	for _, row := range rows {
		out = append(out, col[row])
	}
	return out
}

// permute returns a column in the given order; a nil column stays nil.
func permute[T any](col []T, order []int32) []T {
	if col == nil {
		return nil
	}
	out := make([]T, len(order))
	for i, row := range order {
		out[i] = col[row]
	}
	return out
}

// pick returns the n kept values of a column; a nil column stays nil.
func pick[T any](col []T, keep []bool, n int) []T {
	if col == nil {
		return nil
	}
	out := make([]T, 0, n)
	for row, k := range keep {
		if k {
			out = append(out, col[row])
		}
	}
	return out
}

// at returns the list of user u, nil if the data have no lists.
func at[T any](lists [][]T, u int) []T {
	if u >= len(lists) {
		return nil
	}
	return lists[u]
}
