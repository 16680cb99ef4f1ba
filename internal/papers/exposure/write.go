package exposure

// write keeps metrics and account, and shows both.
func (x *attackRun) write(o *Outcome, a *Account) error {
	if err := x.Env.WriteMetrics(o); err != nil {
		return err
	}
	d, err := x.document(o)
	if err != nil {
		return err
	}
	if err := x.Env.WritePrivacy(a); err != nil {
		return err
	}
	a.show(d)
	return x.Env.Print(d)
}
