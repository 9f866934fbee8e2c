//! Hashes of sequences that can be updated at both ends.
//!
//! The hash of e1, .., en is the polynomial e1 b^(n-1) + .. + en b^0 in a fixed base b modulo the prime 2^61 - 1.
//! Modulo a prime, the base has an inverse, so an element can be added and removed at both ends. (Modulo 2^64, which is
//! cheaper, there are short sequences of two distinct elements that collide for every odd base and all element hashes.)

use std::hash::Hash;

use super::hash_of;

/// The modulus of the hash. It is a Mersenne prime, so computing the remainder needs no division.
const PRIME: u64 = (1 << 61) - 1;
/// The base of the polynomial: an arbitrary large number less than the prime.
pub(super) const BASE: u64 = 0x0B5A_D4EC_EDA1_CE2B;
pub(super) const BASE_INVERSE: u64 = inverse(BASE);
/// `BASE_SQUARED[i]` is the base to the power of 2^i.
const BASE_SQUARED: [u64; usize::BITS as usize] = repeated_squares(BASE);

/// Returns the hash of an element as a number from 1 to `PRIME - 1`. If the number were 0, adding the element at the
/// start of a sequence would not change the hash of the sequence.
pub(super) fn element_hash<T: Hash>(value: &T) -> u64 {
    hash_of(value) % (PRIME - 1) + 1
}

pub(super) const fn add(left: u64, right: u64) -> u64 {
    let sum = left + right;
    if sum >= PRIME { sum - PRIME } else { sum }
}

pub(super) const fn subtract(left: u64, right: u64) -> u64 {
    add(left, PRIME - right)
}

pub(super) const fn multiply(left: u64, right: u64) -> u64 {
    // 2^61 is 1 modulo the prime, so the bits above the lowest 61 are added to the lowest 61.
    let product = left as u128 * right as u128;
    add(product as u64 & PRIME, (product >> 61) as u64)
}

/// Computes the inverse by Fermat's little theorem: raises the number to the power `PRIME - 2`.
const fn inverse(number: u64) -> u64 {
    let mut power = number;
    let mut result = 1;
    let mut exponent = PRIME - 2;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, power);
        }
        power = multiply(power, power);
        exponent >>= 1;
    }
    result
}

const fn repeated_squares(number: u64) -> [u64; usize::BITS as usize] {
    let mut squares = [number; usize::BITS as usize];
    let mut index = 1;
    while index < squares.len() {
        squares[index] = multiply(squares[index - 1], squares[index - 1]);
        index += 1;
    }
    squares
}

pub(super) fn base_to_the(mut exponent: usize) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        result = multiply(result, BASE_SQUARED[exponent.trailing_zeros() as usize]);
        exponent &= exponent - 1; // clears the lowest bit that is set
    }
    result
}
