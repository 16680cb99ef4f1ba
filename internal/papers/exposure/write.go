package exposure

// write keeps metrics and account, and shows both.
func (x *experiment) write(o *Outcome, a *Account) error {
	if err := x.env.WriteMetrics(o); err != nil {
		return err
	}
	d, err := x.document(o)
	if err != nil {
		return err
	}
	if err := x.env.WritePrivacy(a); err != nil {
		return err
	}
	a.show(d)
	return x.env.Print(d)
}
