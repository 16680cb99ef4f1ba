package topn

// TestUsers returns the number of users whose rankings are measured.
func (x *Experiment) TestUsers() int { return len(x.test.users) }
