// Package costs says what runs take: time, memory and disk. It knows what finished runs took, and of others what is
// recorded of equal or similar steps, at the speed of this machine beside that of the one that recorded them.
package costs
