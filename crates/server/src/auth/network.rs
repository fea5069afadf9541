//! An address, or all that begin with the same bits.

use std::net::IpAddr;

use crate::error::Error;

/// Addresses such as `127.0.0.1` or `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Network {
    address: IpAddr,
    /// How many bits count.
    bits: u8,
}

impl Network {
    pub(super) fn read(text: &str) -> Result<Self, Error> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let wrong = || Error::Auth(format!("{text:?} is no address and no network"));
        let address = address
            .parse::<IpAddr>()
            .map_err(|_| wrong())?
            .to_canonical();
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), |bits| bits.parse().map_err(|_| wrong()))?;
        if bits > most {
            return Err(wrong());
        }
        Ok(Self { address, bits })
    }

    pub(super) fn holds(self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let differing = own.to_bits() ^ other.to_bits();
                differing.leading_zeros() >= u32::from(self.bits)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let differing = own.to_bits() ^ other.to_bits();
                differing.leading_zeros() >= u32::from(self.bits)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_holds_what_begins_like_it() {
        for (network, address, holds) in [
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.0", false),
            ("192.168.1.128/25", "192.168.1.127", false),
            ("192.168.1.128/25", "192.168.1.129", true),
            ("0.0.0.0/0", "8.8.8.8", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("10.0.0.0/8", "::ffff:10.0.0.1", true),
            ("::ffff:10.0.0.1", "10.0.0.1", true),
        ] {
            let network_read = Network::read(network).unwrap();
            let address_read = address.parse().unwrap();
            assert_eq!(
                network_read.holds(address_read),
                holds,
                "{network} {address}"
            );
        }
    }

    #[test]
    fn anything_else_is_no_network() {
        for text in [
            "",
            "proxy",
            "10.0.0.0/33",
            "10.0.0.0/",
            "10.0.0.0/x",
            "::/129",
            "10.0.0/8",
        ] {
            assert!(Network::read(text).is_err(), "{text}");
        }
    }
}
