//! Servers whose descriptions are in other languages or begin with guards.

use super::check;

#[test]
fn names_in_another_language() {
    check(
        &[
            ("kunde_anlegen", "Nur verwenden, wenn der Benutzer es ausdrücklich verlangt. Legt einen neuen Kunden an."),
            ("kunde_suchen", "Sucht Kunden nach Name z.B. Müller. Mehr."),
            ("kunde_loeschen", "ACHTUNG: Nicht umkehrbar. Löscht einen Kunden."),
            ("rechnung_erstellen", "Erstellt eine Rechnung."),
            ("rechnung_senden", "Sendet"),
            ("rechnung_stornieren", "Storniert"),
            ("artikel_anlegen", "Legt an"),
            ("artikel_suchen", "Sucht"),
            ("lager_abfragen", "Fragt ab"),
        ],
        &[
            "artikel_and_lager: artikel_anlegen artikel_suchen lager_abfragen",
            "kunde: kunde_anlegen kunde_loeschen kunde_suchen",
            "rechnung: rechnung_erstellen rechnung_senden rechnung_stornieren",
        ],
    );
}

#[test]
fn descriptions_in_another_script() {
    check(
        &[
            ("查询天气", "【重要】仅在用户要求时使用。查询指定城市的天气。"),
            ("create_order", "⚠️ 注意：请先确认。创建一个新的订单。"),
            ("cancel_order", "取消订单。"),
            ("query_order", "当用户明确要求时使用。查询订单状态。"),
            ("list_products", "列出商品。"),
            ("get_product", "获取商品详情。"),
            ("update_product", "更新商品信息。"),
            ("send_sms", "发送短信。"),
            ("send_email", "发送邮件。"),
        ],
        &[
            "order: cancel_order create_order query_order",
            "other: send_email send_sms 查询天气",
            "product: get_product list_products update_product",
        ],
    );
}

#[test]
fn guards_before_what_a_tool_does() {
    check(
        &[
            (
                "hubspot-batch-create-associations",
                "🎯 Purpose:\n  1. Establishes relationships between HubSpot objects, linking records across different object types.",
            ),
            (
                "hubspot-batch-create-objects",
                "🛡️ Guardrails:\n  1. Data Modification Warning: This tool modifies HubSpot data. Only use when the user has explicitly requested to update their CRM.\n\n🎯 Purpose:\n  1. Creates multiple HubSpot objects of the same object type in a single API call.\n\n📋 Prerequisites:\n  1. Use the hubspot-get-user-details tool to get the OwnerId and UserId.",
            ),
            (
                "hubspot-batch-update-objects",
                "🎯 Purpose:\n  1. Updates multiple existing HubSpot objects of the same object type in a single API call.",
            ),
            (
                "hubspot-create-engagement",
                "🎯 Purpose:\n  1. Creates a HubSpot engagement (Note or Task) associated with contacts.",
            ),
            ("hubspot-update-engagement", "🎯 Purpose:\n  1. Updates an existing HubSpot engagement (Note or Task)."),
            (
                "hubspot-create-property",
                "🎯 Purpose:\n  1. Creates new custom properties for HubSpot object types, enabling data structure customization.",
            ),
            (
                "hubspot-update-property",
                "🎯 Purpose:\n  1. Updates existing custom properties for HubSpot object types.",
            ),
            (
                "hubspot-batch-read-objects",
                "🎯 Purpose:\n  1. Retrieves multiple HubSpot objects of the same object type by their IDs.\n\n🧭 Usage Guidance:\n  1. Use it first.",
            ),
            (
                "hubspot-generate-feedback-link",
                "🎯 Purpose:\n  1. Generates a feedback link.\n\n🧭 Usage Guidance:\n  1. Use it first.",
            ),
            (
                "hubspot-get-association-definitions",
                "🎯 Purpose:\n  1. Retrieves valid association types between object types.\n\n🧭 Usage Guidance:\n  1. Use it first.",
            ),
            (
                "hubspot-get-engagement",
                "🎯 Purpose:\n  1. Retrieves a HubSpot engagement by ID.\n\n🧭 Usage Guidance:\n  1. Use it first.",
            ),
            (
                "hubspot-get-link",
                "🎯 Purpose:\n  1. Generates HubSpot UI links for records.\n\n🧭 Usage Guidance:\n  1. Use it first.",
            ),
            (
                "hubspot-get-property",
                "🎯 Purpose:\n  1. Retrieves detailed information about a property.\n\n🧭 Usage Guidance:\n  1. Use it first.",
            ),
            (
                "hubspot-get-schemas",
                "🎯 Purpose:\n  1. Retrieves all custom object schemas.\n\n🧭 Usage Guidance:\n  1. Use it first.",
            ),
            (
                "hubspot-get-user-details",
                "🎯 Purpose:\n  1. Authenticates and analyzes the current HubSpot access token.\n\n🧭 Usage Guidance:\n  1. Use it first.",
            ),
            (
                "hubspot-list-associations",
                "🎯 Purpose:\n  1. Retrieves existing relationships between a record and others.\n\n🧭 Usage Guidance:\n  1. Use it first.",
            ),
            (
                "hubspot-list-objects",
                "🎯 Purpose:\n  1. Retrieves a paginated list of objects.\n\n🧭 Usage Guidance:\n  1. Use it first.",
            ),
            (
                "hubspot-list-properties",
                "🎯 Purpose:\n  1. Retrieves a catalog of properties.\n\n🧭 Usage Guidance:\n  1. Use it first.",
            ),
            (
                "hubspot-list-workflows",
                "🎯 Purpose:\n  1. Retrieves a list of workflows.\n\n🧭 Usage Guidance:\n  1. Use it first.",
            ),
            (
                "hubspot-get-workflow",
                "🎯 Purpose:\n  1. Retrieves a workflow.\n\n🧭 Usage Guidance:\n  1. Use it first.",
            ),
            (
                "hubspot-search-objects",
                "🎯 Purpose:\n  1. Performs advanced filtered searches across HubSpot object types.\n\n🧭 Usage Guidance:\n  1. Use it first.",
            ),
        ],
        &[
            "associations: hubspot-batch-create-associations hubspot-get-association-definitions hubspot-list-associations",
            "engagement: hubspot-create-engagement hubspot-get-engagement hubspot-update-engagement",
            "objects: hubspot-batch-create-objects hubspot-batch-read-objects hubspot-batch-update-objects hubspot-list-objects hubspot-search-objects",
            "other: hubspot-generate-feedback-link hubspot-get-link hubspot-get-schemas hubspot-get-user-details hubspot-get-workflow hubspot-list-workflows",
            "property: hubspot-create-property hubspot-get-property hubspot-list-properties hubspot-update-property",
        ],
    );
}
