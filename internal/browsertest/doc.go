// Package browsertest holds tests of web pages in headless Chromium. It has no code of the
// program: the module that drives the browser is imported by tests alone, so the program does
// not contain it. Without a Chromium the tests skip and say so; $PRIVREC_CHROMIUM names one.
package browsertest
