//! How a client with a key proves who it is: a signed statement (`private_key_jwt`: RFC 7523, section 2.2; RFC 7515).

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::json;

/// What it is, to the token endpoint.
pub(super) const TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// How long it can be used, in seconds: as long as one request takes, and clocks are apart.
const LIFE: i64 = 120;

/// A statement of a client to an authorization server. The key is PKCS#8 in PEM: P-256, RSA or Ed25519.
pub(super) fn signed(pem: &str, client: &str, issuer: &str, now_ms: i64) -> Result<String, String> {
    let key = Key::from_pem(pem)?;
    let (now, id) = (now_ms.div_euclid(1000), super::random()?);
    let head = json!({"alg": key.algorithm(), "typ": "JWT"});
    let claims = json!({"iss": client, "sub": client, "aud": issuer, "jti": id, "iat": now, "exp": now + LIFE});
    let part = |own: &serde_json::Value| URL_SAFE_NO_PAD.encode(own.to_string());
    let text = format!("{}.{}", part(&head), part(&claims));
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
        let bad = || {
            "`private_key` is none that can be used: it has to be PKCS#8 in PEM (BEGIN PRIVATE KEY), of P-256, RSA or Ed25519"
                .to_owned()
        };
        // Variables often have their line breaks written out.
        let pem = pem.replace("\\n", "\n");
        let body = pem.split_once("-----BEGIN PRIVATE KEY-----").and_then(|(_, rest)| rest.split_once("-----END"));
        let text: String = body.ok_or_else(bad)?.0.chars().filter(|own| !own.is_whitespace()).collect();
        let der = STANDARD.decode(text).map_err(|_| bad())?;
        let p256 = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &der, &SystemRandom::new());
        let rsa = || RsaKeyPair::from_pkcs8(&der).map(Self::Rsa);
        let ed25519 = || Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).map(Self::Ed25519);
        p256.map(Self::P256).or_else(|_| rsa()).or_else(|_| ed25519()).map_err(|_| bad())
    }

    /// As RFC 7518 and RFC 8037 name it.
    fn algorithm(&self) -> &'static str {
        match self {
            Self::P256(_) => "ES256",
            Self::Rsa(_) => "RS256",
            Self::Ed25519(_) => "EdDSA",
        }
    }

    fn sign(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        let failed = |_| "the statement cannot be signed".to_owned();
        match self {
            Self::P256(key) => Ok(key.sign(&SystemRandom::new(), text).map_err(failed)?.as_ref().to_vec()),
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text, &mut signature).map_err(failed)?;
                Ok(signature)
            }
            Self::Ed25519(key) => Ok(key.sign(text).as_ref().to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, KeyPair, UnparsedPublicKey};

    use super::*;

    #[test]
    fn a_statement_is_signed_and_says_for_whom() {
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
