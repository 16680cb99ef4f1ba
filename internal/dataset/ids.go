package dataset

// IDsAt returns the ids at some places, such as those of users by their numbers.
func IDsAt(ids []string, places []int32) []string {
	at := make([]string, len(places))
	for k, p := range places {
		at[k] = ids[p]
	}
	return at
}
