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

/// An address as it is printed: without the password, which a parameter may also contain. Of the
/// parameters, only the tenant is printed.
pub(in super::super) fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://").filter(|_| is_address(text)) else { return text.to_owned() };
    // The driver ends the login at the first `@`. One that an unquoted password contains leaves its
    // end before the host.
    let (login, rest) = rest.split_once('@').unwrap_or(("", rest));
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    let user = login.split(':').next().unwrap_or_default();
    let printed = format!("{scheme}://{user}{}{place}", if login.is_empty() { "" } else { "@" });
    match parameters.split('&').find_map(|parameter| parameter.strip_prefix("tenant=")) {
        Some(tenant) => of_tenant(&printed, tenant),
        None => printed,
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
            ("postgres://app@db/t?password=s3cret", "postgres://app@db/t"),
            ("postgres://app@db/t?sslmode=require&tenant=a&password=s3@cret", "postgres://app@db/t?tenant=a"),
            ("postgres://app:s3?cret@db/t", "postgres://app@db/t"),
            ("mysql://db/t?user=app&password=s3cret", "mysql://db/t"),
            ("a:b@c.sqlite", "a:b@c.sqlite"),
        ] {
            assert_eq!(without_password(text), printed);
        }
        assert_eq!(of_tenant("postgres://a@b/c", "ada"), "postgres://a@b/c?tenant=ada");
        assert_eq!(of_tenant("postgres://a@b/c?x=1", "ada"), "postgres://a@b/c?x=1&tenant=ada");
    }
}
