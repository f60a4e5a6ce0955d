//! The addresses of databases, as flags and settings contain them.

/// Whether a text is the address of a database rather than a path: of any, so that a misspelt
/// address is no path. One letter is a drive of Windows.
pub(in super::super) fn is_address(text: &str) -> bool {
    let (scheme, _) = text.split_once("://").unwrap_or_default();
    scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

/// The address of a tenant's rows.
pub(in super::super) fn of_tenant(address: &str, tenant: &str) -> String {
    let join = if address.contains('?') { '&' } else { '?' };
    format!("{address}{join}tenant={tenant}")
}

/// An address as it is printed: without the password.
pub(in super::super) fn without_password(text: &str) -> String {
    let parts = text.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?)));
    match parts {
        Some((scheme, (user, place))) if is_address(text) => {
            format!("{scheme}://{}@{place}", user.split(':').next().unwrap_or_default())
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{of_tenant, without_password};

    #[test]
    fn a_printed_address_has_no_password() {
        for (text, printed) in [
            ("postgres://app:s3c@ret@db:5432/t?tenant=a", "postgres://app@db:5432/t?tenant=a"),
            ("postgres://app@db/t", "postgres://app@db/t"),
            ("mysql://app:s3cret@db/t", "mysql://app@db/t"),
            ("a:b@c.sqlite", "a:b@c.sqlite"),
        ] {
            assert_eq!(without_password(text), printed);
        }
        assert_eq!(of_tenant("postgres://a@b/c", "ada"), "postgres://a@b/c?tenant=ada");
        assert_eq!(of_tenant("postgres://a@b/c?x=1", "ada"), "postgres://a@b/c?x=1&tenant=ada");
    }
}
