//! Authentication of a client that has a key: a signed assertion (`private_key_jwt`: RFC 7523,
//! section 2.2; RFC 7515).

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::json;

/// The assertion type for the token endpoint.
pub(super) const TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Lifetime of an assertion, in seconds: covers one request and clock differences.
const LIFE: i64 = 120;

/// A client's signed assertion. The key is PKCS#8 in PEM: P-256, RSA or Ed25519.
pub(super) fn signed(pem: &str, client: &str, issuer: &str, now_ms: i64) -> Result<String, String> {
    let key = Key::from_pem(pem)?;
    let (now, id) = (now_ms.div_euclid(1000), super::random()?);
    let head = json!({"alg": key.algorithm(), "typ": "JWT"});
    let claims = json!({"iss": client, "sub": client, "aud": issuer, "jti": id, "iat": now, "exp": now + LIFE});
    let [head, claims] = [head, claims].map(|own| URL_SAFE_NO_PAD.encode(own.to_string()));
    let text = format!("{head}.{claims}");
    let signature = key.sign(text.as_bytes())?;
    Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

enum Key {
    P256(EcdsaKeyPair),
    Rsa(RsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl Key {
    fn from_pem(pem: &str) -> Result<Self, String> {
        Self::parse(pem).ok_or_else(|| {
            "`private_key` is unsupported; use PKCS#8 in PEM (BEGIN PRIVATE KEY) with P-256, RSA or Ed25519".to_owned()
        })
    }

    fn parse(pem: &str) -> Option<Self> {
        // Line breaks in environment variables are often written as `\n`.
        let pem = pem.replace("\\n", "\n");
        let (_, rest) = pem.split_once("-----BEGIN PRIVATE KEY-----")?;
        let (body, _) = rest.split_once("-----END")?;
        let der = STANDARD.decode(body.split_whitespace().collect::<String>()).ok()?;
        if let Ok(key) = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &der, &SystemRandom::new()) {
            return Some(Self::P256(key));
        }
        if let Ok(key) = RsaKeyPair::from_pkcs8(&der) {
            return Some(Self::Rsa(key));
        }
        Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).ok().map(Self::Ed25519)
    }

    /// The name in RFC 7518 and RFC 8037.
    fn algorithm(&self) -> &'static str {
        match self {
            Self::P256(_) => "ES256",
            Self::Rsa(_) => "RS256",
            Self::Ed25519(_) => "EdDSA",
        }
    }

    fn sign(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        let signature = match self {
            Self::P256(key) => key.sign(&SystemRandom::new(), text).map(|own| own.as_ref().to_vec()),
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text, &mut signature).map(|()| signature)
            }
            Self::Ed25519(key) => Ok(key.sign(text).as_ref().to_vec()),
        };
        signature.map_err(|_| "cannot sign the assertion".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, KeyPair, UnparsedPublicKey};

    use super::*;

    #[test]
    fn an_assertion_is_signed_and_has_its_audience() {
        let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new()).unwrap();
        let pem =
            format!("-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----", STANDARD.encode(der.as_ref()));
        let own = signed(&pem, "me", "https://as.test", 1_000_000).unwrap();
        let parts: Vec<&str> = own.split('.').collect();
        let claims: serde_json::Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(parts[1]).unwrap()).unwrap();
        assert_eq!(
            (&claims["aud"], &claims["sub"], &claims["exp"]),
            (&json!("https://as.test"), &json!("me"), &json!(1120))
        );
        let Key::P256(key) = Key::from_pem(&pem).unwrap() else { panic!("P-256") };
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.public_key().as_ref());
        let signature = URL_SAFE_NO_PAD.decode(parts[2]).unwrap();
        public.verify(format!("{}.{}", parts[0], parts[1]).as_bytes(), &signature).unwrap();
        for bad in ["", "secret", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"] {
            let why = signed(bad, "me", "x", 0).unwrap_err();
            assert!(why.contains("PKCS#8") && !why.contains("AAAA"), "{why}");
        }
    }
}
