//! Servers of the kinds that are about, made up by hand: what a person would have put together, and
//! called what.

use super::check;

#[test]
fn verbs_of_http_behind_a_common_prefix() {
    check(
        &[
            ("API-get-user", "Notion | Retrieve a user"),
            ("API-get-users", "Notion | List all users"),
            ("API-get-self", "Notion | Retrieve your token's bot user"),
            ("API-post-database-query", "Notion | Query a database"),
            ("API-post-search", "Notion | Search by title"),
            ("API-get-block-children", "Notion | Retrieve block children"),
            ("API-patch-block-children", "Notion | Append block children"),
            ("API-retrieve-a-block", "Notion | Retrieve a block"),
            ("API-update-a-block", "Notion | Update a block"),
            ("API-delete-a-block", "Notion | Delete a block"),
            ("API-retrieve-a-page", "Notion | Retrieve a page"),
            ("API-patch-page", "Notion | Update page properties"),
            ("API-post-page", "Notion | Create a page"),
            ("API-create-a-database", "Notion | Create a database"),
            ("API-update-a-database", "Notion | Update a database"),
            ("API-retrieve-a-database", "Notion | Retrieve a database"),
            ("API-retrieve-a-page-property", "Notion | Retrieve a page property item"),
            ("API-retrieve-a-comment", "Notion | Retrieve comments"),
            ("API-create-a-comment", "Notion | Create comment"),
        ],
        &[
            "block: API-delete-a-block API-get-block-children API-patch-block-children API-retrieve-a-block API-update-a-block",
            "database: API-create-a-database API-post-database-query API-retrieve-a-database API-update-a-database",
            "other: API-create-a-comment API-get-self API-get-user API-get-users API-post-search API-retrieve-a-comment",
            "page: API-patch-page API-post-page API-retrieve-a-page API-retrieve-a-page-property",
        ],
    );
}

#[test]
fn plural_nouns_before_verbs() {
    check(
        &[
            ("conversations_history", "Get messages from the channel"),
            ("conversations_replies", "Get a thread"),
            ("conversations_add_message", "⚠️ MANDATORY: ask first. Add a message to a channel."),
            ("conversations_search_messages", "Search messages"),
            ("channels_list", "Get list of channels"),
            ("channels_create", "Create"),
            ("users_list", "List users"),
            ("users_search", "Find users"),
            ("reactions_add", "Add emoji"),
            ("reactions_remove", "Remove emoji"),
            ("usergroups_list", "L"),
            ("usergroups_create", "C"),
            ("files_upload", "Upload a file"),
            ("files_info", "Info"),
            ("pins_add", "Pin"),
            ("pins_remove", "Unpin"),
        ],
        &[
            "conversations: channels_create channels_list conversations_add_message conversations_history conversations_replies conversations_search_messages",
            "other: files_info files_upload pins_add pins_remove reactions_add reactions_remove",
            "people: usergroups_create usergroups_list users_list users_search",
        ],
    );
}

#[test]
fn many_small_subjects() {
    check(
        &[
            ("create_customer", "This tool will create customer in Stripe."),
            ("list_customers", "This tool will list customers in Stripe."),
            ("create_product", "This tool will create product in Stripe."),
            ("list_products", "This tool will list products in Stripe."),
            ("create_price", "This tool will create price in Stripe."),
            ("list_prices", "This tool will list prices in Stripe."),
            ("create_payment_link", "This tool will create payment link in Stripe."),
            ("create_invoice", "This tool will create invoice in Stripe."),
            ("list_invoices", "This tool will list invoices in Stripe."),
            ("create_invoice_item", "This tool will create invoice item in Stripe."),
            ("finalize_invoice", "This tool will finalize invoice in Stripe."),
            ("retrieve_balance", "This tool will retrieve balance in Stripe."),
            ("create_refund", "This tool will create refund in Stripe."),
            ("list_payment_intents", "This tool will list payment intents in Stripe."),
            ("list_subscriptions", "This tool will list subscriptions in Stripe."),
            ("cancel_subscription", "This tool will cancel subscription in Stripe."),
            ("update_subscription", "This tool will update subscription in Stripe."),
            ("list_coupons", "This tool will list coupons in Stripe."),
            ("create_coupon", "This tool will create coupon in Stripe."),
            ("list_disputes", "This tool will list disputes in Stripe."),
            ("update_dispute", "This tool will update dispute in Stripe."),
            ("search_stripe_documentation", "This tool will search stripe documentation in Stripe."),
            ("search_stripe_resources", "This tool will search stripe resources in Stripe."),
            ("fetch_stripe_resources", "This tool will fetch stripe resources in Stripe."),
            ("get_stripe_account_info", "This tool will get stripe account info in Stripe."),
        ],
        &[
            "billing: create_coupon create_payment_link create_price create_refund list_coupons list_payment_intents list_prices retrieve_balance",
            "customer_and_dispute: create_customer list_customers list_disputes update_dispute",
            "invoice: create_invoice create_invoice_item finalize_invoice list_invoices",
            "other: create_product fetch_stripe_resources get_stripe_account_info list_products search_stripe_documentation search_stripe_resources",
            "subscription: cancel_subscription list_subscriptions update_subscription",
        ],
    );
}

#[test]
fn verbs_before_nouns() {
    check(
        &[
            ("list_comments", "list comments in the workspace"),
            ("create_comment", "create comment in the workspace"),
            ("list_cycles", "list cycles in the workspace"),
            ("get_document", "get document in the workspace"),
            ("list_documents", "list documents in the workspace"),
            ("create_document", "create document in the workspace"),
            ("update_document", "update document in the workspace"),
            ("get_issue", "get issue in the workspace"),
            ("list_issues", "list issues in the workspace"),
            ("create_issue", "create issue in the workspace"),
            ("update_issue", "update issue in the workspace"),
            ("list_issue_statuses", "list issue statuses in the workspace"),
            ("get_issue_status", "get issue status in the workspace"),
            ("list_issue_labels", "list issue labels in the workspace"),
            ("create_issue_label", "create issue label in the workspace"),
            ("list_projects", "list projects in the workspace"),
            ("get_project", "get project in the workspace"),
            ("save_project", "save project in the workspace"),
            ("list_project_labels", "list project labels in the workspace"),
            ("list_teams", "list teams in the workspace"),
            ("get_team", "get team in the workspace"),
            ("list_users", "list users in the workspace"),
            ("get_user", "get user in the workspace"),
            ("search_documentation", "search documentation in the workspace"),
            ("get_attachment", "get attachment in the workspace"),
            ("create_attachment", "create attachment in the workspace"),
            ("delete_attachment", "delete attachment in the workspace"),
            ("list_milestones", "list milestones in the workspace"),
            ("get_milestone", "get milestone in the workspace"),
            ("save_milestone", "save milestone in the workspace"),
            ("extract_images", "extract images in the workspace"),
        ],
        &[
            "attachment: create_attachment delete_attachment get_attachment",
            "document: create_document get_document list_documents update_document",
            "issue: create_issue create_issue_label get_issue get_issue_status list_issue_labels list_issue_statuses list_issues update_issue",
            "milestone: get_milestone list_milestones save_milestone",
            "other: create_comment extract_images list_comments list_cycles search_documentation",
            "people: get_team get_user list_teams list_users",
            "project: get_project list_project_labels list_projects save_project",
        ],
    );
}

#[test]
fn a_brand_in_every_sentence() {
    check(
        &[
            ("whoami", "Identify the authenticated user in Sentry.\n\nUse this tool when you need to:\n- Get the user"),
            ("find_organizations", "Find organizations that the user has access to in Sentry."),
            ("find_teams", "Find teams in an organization in Sentry."),
            ("find_projects", "Find projects"),
            ("find_releases", "Find releases"),
            (
                "get_issue_details",
                "Get detailed information about a specific Sentry issue by ID.\n\n🔍 USE THIS TOOL WHEN USERS:\n- Provide a URL",
            ),
            ("get_issue_tag_values", "Get tag values"),
            ("get_trace_details", "Get trace"),
            ("get_event_attachment", "Download attachments"),
            ("update_issue", "Update an issue"),
            ("search_events", "Search events AND perform counts"),
            ("search_issues", "Search issues"),
            ("search_issue_events", "Search"),
            ("create_team", "CREATE TEAM\n\nCreate a team."),
            ("create_project", "Create a project"),
            ("update_project", "Update"),
            ("create_dsn", "Create DSN"),
            ("find_dsns", "Find DSN"),
            ("analyze_issue_with_seer", "Use Seer to analyze"),
            ("search_docs", "Search docs"),
            ("get_doc", "Fetch doc"),
            ("get_profile", "prof"),
            ("get_replay_details", "replay"),
        ],
        &[
            "doc_and_dsn: create_dsn find_dsns get_doc search_docs",
            "issue: analyze_issue_with_seer get_issue_details get_issue_tag_values search_issue_events search_issues update_issue",
            "logs: get_event_attachment get_replay_details get_trace_details search_events",
            "organizations: create_team find_organizations find_teams",
            "other: find_releases get_profile whoami",
            "project: create_project find_projects update_project",
        ],
    );
}

#[test]
fn several_products_with_short_prefixes() {
    check(
        &[
            ("gmail_send_email", "Create and send a new email message."),
            ("gmail_find_email", "Finds an email message."),
            ("gmail_create_draft", "Create a draft email."),
            ("gmail_archive_email", "Archive an email."),
            ("google_calendar_quick_add_event", "Create an event"),
            ("google_calendar_find_event", "Finds an event"),
            ("google_calendar_delete_event", "Deletes"),
            ("google_sheets_lookup_spreadsheet_row", "Find a row"),
            ("google_sheets_create_spreadsheet_row", "Create a row"),
            ("google_sheets_update_spreadsheet_row", "Update"),
            ("slack_send_channel_message", "Post"),
            ("slack_send_direct_message", "dm"),
            ("slack_find_user_by_email", "find"),
            ("hubspot_create_contact", "c"),
            ("hubspot_find_contact", "f"),
            ("hubspot_update_deal", "d"),
            ("notion_create_page", "n"),
            ("notion_find_page", "f"),
            ("add_tools", "Add"),
            ("edit_tools", "Edit"),
        ],
        &[
            "calendar_event: google_calendar_delete_event google_calendar_find_event google_calendar_quick_add_event",
            "gmail: gmail_archive_email gmail_create_draft gmail_find_email gmail_send_email",
            "hubspot: hubspot_create_contact hubspot_find_contact hubspot_update_deal",
            "sheets_spreadsheet_row: google_sheets_create_spreadsheet_row google_sheets_lookup_spreadsheet_row google_sheets_update_spreadsheet_row",
            "slack: slack_find_user_by_email slack_send_channel_message slack_send_direct_message",
            "tools_and_notion_page: add_tools edit_tools notion_create_page notion_find_page",
        ],
    );
}

#[test]
fn names_with_dots() {
    check(
        &[
            ("issues.list", "issues.list"),
            ("issues.create", "issues.create"),
            ("issues.update", "issues.update"),
            ("issues.get", "issues.get"),
            ("issues.close", "issues.close"),
            ("pulls.list", "pulls.list"),
            ("pulls.create", "pulls.create"),
            ("pulls.merge", "pulls.merge"),
            ("repos.list", "repos.list"),
            ("repos.get", "repos.get"),
            ("repos.create", "repos.create"),
            ("repos.fork", "repos.fork"),
            ("users.get", "users.get"),
            ("users.list", "users.list"),
            ("search.code", "search.code"),
            ("search.issues", "search.issues"),
            ("actions.runs.list", "actions.runs.list"),
            ("actions.runs.cancel", "actions.runs.cancel"),
            ("actions.jobs.list", "actions.jobs.list"),
        ],
        &[
            "actions: actions.jobs.list actions.runs.cancel actions.runs.list",
            "issues: issues.close issues.create issues.get issues.list issues.update search.issues",
            "pulls: pulls.create pulls.list pulls.merge",
            "repos: repos.create repos.fork repos.get repos.list",
            "users_and_code: search.code users.get users.list",
        ],
    );
}

#[test]
fn names_in_camel_case() {
    check(
        &[
            ("createUser", ""),
            ("getUser", ""),
            ("listUsers", ""),
            ("deleteUser", ""),
            ("updateUser", ""),
            ("createInvoice", ""),
            ("sendInvoice", ""),
            ("getInvoice", ""),
            ("voidInvoice", ""),
            ("listInvoices", ""),
            ("createWebhook", ""),
            ("deleteWebhook", ""),
            ("listWebhooks", ""),
            ("getReport", ""),
            ("runReport", ""),
            ("scheduleReport", ""),
            ("exportReportToPdf", ""),
            ("addTeamMember", ""),
            ("removeTeamMember", ""),
            ("listTeamMembers", ""),
            ("getAuditLog", ""),
            ("searchAuditLogs", ""),
        ],
        &[
            "invoice: createInvoice getInvoice listInvoices sendInvoice voidInvoice",
            "report: exportReportToPdf getReport runReport scheduleReport",
            "team_member_and_audit_log: addTeamMember getAuditLog listTeamMembers removeTeamMember searchAuditLogs",
            "user: createUser deleteUser getUser listUsers updateUser",
            "webhook: createWebhook deleteWebhook listWebhooks",
        ],
    );
}
