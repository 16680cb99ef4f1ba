// Package serve shows a folder of runs in a browser: a list that is sorted and filtered, runs
// side by side, the metric against the accounted epsilon, and the pages of reports.
//
// It listens on the loopback addresses alone and changes nothing. Requests that name another
// host are refused, because a foreign page could otherwise read the runs under a name of its own
// that it points here (DNS rebinding). Files are opened below the folder only, through os.Root,
// so neither ".." nor a link leads out of it. Of those it hands out the files that runs and
// reports write, by their names.
//
// Pages need no script and load nothing. Their policy forbids a browser to connect anywhere.
package serve
