//! Weather that is made up: the same for a place on every call, different between places.

use antiphon::prelude::*;

const SKIES: [&str; 5] = ["Sunny", "Partly cloudy", "Cloudy", "Light rain", "Windy"];

/// Degrees Celsius, kilometres per hour, percent.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Weather {
    city: String,
    temperature: u32,
    feels_like: u32,
    conditions: &'static str,
    humidity: u32,
    wind_speed: u32,
}

/// Get the weather of a place. It is made up.
#[tool(idempotent)]
pub(super) fn get_weather(
    /// A city.
    location: String,
) -> Weather {
    let dice = location.to_lowercase().bytes().fold(7_u32, |dice, byte| {
        dice.wrapping_mul(31).wrapping_add(u32::from(byte))
    });
    let sky = usize::try_from(dice / 7).unwrap_or(0) % SKIES.len();
    let temperature = 8 + dice % 20;
    Weather {
        city: location,
        temperature,
        feels_like: temperature - dice % 3,
        conditions: SKIES.get(sky).copied().unwrap_or_default(),
        humidity: 40 + dice % 45,
        wind_speed: 3 + dice % 25,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_its_own_weather_and_keeps_it() {
        let weather = |place: &str| get_weather::call(place.to_owned());
        assert_eq!(weather("Tokyo"), weather("Tokyo"));
        assert_eq!(weather("Tokyo").temperature, weather("tokyo").temperature);
        assert_ne!(weather("Tokyo").humidity, weather("London").humidity);
    }
}
