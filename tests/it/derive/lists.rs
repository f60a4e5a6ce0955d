//! Whole servers with their descriptions, made up by hand: what sentences tell of tools whose names
//! share no word.

use super::check;

#[test]
fn a_cluster() {
    check(
        &[
            ("list_pods", "List pods in a namespace"),
            ("get_pod", "Get details of a pod"),
            ("delete_pod", "Delete a pod"),
            ("get_pod_logs", "Fetch the logs of a pod's container"),
            ("exec_in_pod", "Run a command inside a pod"),
            ("port_forward_pod", "Forward a local port to a pod"),
            ("list_deployments", "List deployments in a namespace"),
            ("get_deployment", "Describe a deployment"),
            ("create_deployment", "Create a deployment from an image"),
            ("scale_deployment", "Scale a deployment to a number of replicas"),
            ("rollout_restart_deployment", "Restart all pods of a deployment"),
            ("rollout_undo_deployment", "Roll back a deployment to an earlier revision"),
            ("rollout_status_deployment", "Show rollout progress"),
            ("delete_deployment", "Delete a deployment"),
            ("list_services", "List services"),
            ("create_service", "Expose a workload as a service"),
            ("delete_service", "Delete a service"),
            ("list_ingresses", "List ingress rules"),
            ("create_ingress", "Create an ingress"),
            ("delete_ingress", "Delete an ingress"),
            ("list_namespaces", "List namespaces"),
            ("create_namespace", "Create a namespace"),
            ("delete_namespace", "Delete a namespace"),
            ("list_nodes", "List cluster nodes"),
            ("cordon_node", "Mark a node unschedulable"),
            ("uncordon_node", "Mark a node schedulable"),
            ("drain_node", "Evict all pods from a node"),
            ("list_configmaps", "List ConfigMaps"),
            ("get_configmap", "Get a ConfigMap"),
            ("apply_configmap", "Create or update a ConfigMap"),
            ("list_secrets", "List secrets (values hidden)"),
            ("create_secret", "Create a secret"),
            ("delete_secret", "Delete a secret"),
            ("helm_install", "Install a Helm chart"),
            ("helm_upgrade", "Upgrade a Helm release"),
            ("helm_uninstall", "Uninstall a Helm release"),
            ("helm_list", "List Helm releases"),
            ("apply_manifest", "Apply a YAML manifest"),
            ("get_events", "Show recent cluster events"),
            ("current_context", "Show the current kubeconfig context"),
            ("switch_context", "Switch the kubeconfig context"),
            ("top_pods", "Show CPU and memory usage of pods"),
            ("top_nodes", "Show CPU and memory usage of nodes"),
        ],
        &[
            "configmap: apply_configmap get_configmap list_configmaps",
            "deployment: create_deployment delete_deployment get_deployment list_deployments scale_deployment",
            "helm: helm_install helm_list helm_uninstall helm_upgrade",
            "ingress: create_ingress delete_ingress list_ingresses",
            "namespace: create_namespace delete_namespace list_namespaces",
            "node: cordon_node drain_node list_nodes top_nodes uncordon_node",
            "other: apply_manifest current_context get_events switch_context",
            "pod: delete_pod exec_in_pod get_pod get_pod_logs list_pods port_forward_pod top_pods",
            "rollout_deployment: rollout_restart_deployment rollout_status_deployment rollout_undo_deployment",
            "secret: create_secret delete_secret list_secrets",
            "service: create_service delete_service list_services",
        ],
    );
}

#[test]
fn customers_with_a_common_prefix() {
    check(
        &[
            ("crm_contacts_search", "Search contacts by name, e-mail or company"),
            ("crm_contacts_create", "Create a contact"),
            ("crm_contacts_update", "Update a contact's fields"),
            ("crm_contacts_merge", "Merge two duplicate contacts"),
            ("crm_contacts_archive", "Archive a contact"),
            ("crm_companies_search", "Search companies"),
            ("crm_companies_create", "Create a company"),
            ("crm_companies_update", "Update a company"),
            ("crm_deals_list", "List deals in a pipeline"),
            ("crm_deals_create", "Create a deal"),
            ("crm_deals_update", "Update amount, close date or owner of a deal"),
            ("crm_deals_move_stage", "Move a deal to another pipeline stage"),
            ("crm_pipelines_list", "List pipelines and their stages"),
            ("crm_notes_create", "Add a note to a record"),
            ("crm_notes_list", "List the notes of a record"),
            ("crm_tasks_create", "Create a follow-up task"),
            ("crm_tasks_complete", "Mark a task as done"),
            ("crm_calls_log", "Log a phone call"),
            ("crm_meetings_book", "Book a meeting with a contact"),
            ("crm_emails_send", "Send an e-mail from a template"),
            ("crm_templates_list", "List e-mail templates"),
            ("crm_owners_list", "List sales reps"),
            ("crm_associations_create", "Associate two records"),
            ("crm_associations_delete", "Remove an association"),
            ("crm_properties_list", "List the properties of an object type"),
            ("crm_properties_create", "Create a custom property"),
            ("crm_quotes_create", "Create a quote for a deal"),
            ("crm_quotes_send", "Send a quote"),
            ("crm_reports_forecast", "Forecast revenue for a quarter"),
            ("crm_workflows_enroll", "Enroll a contact in a workflow"),
        ],
        &[
            "associations_and_notes: crm_associations_create crm_associations_delete crm_notes_create crm_notes_list",
            "companies: crm_companies_create crm_companies_search crm_companies_update",
            "contacts: crm_contacts_archive crm_contacts_create crm_contacts_merge crm_contacts_search crm_contacts_update crm_meetings_book crm_owners_list crm_workflows_enroll",
            "deals: crm_deals_create crm_deals_list crm_deals_move_stage crm_deals_update",
            "other: crm_calls_log crm_emails_send crm_templates_list",
            "properties_and_tasks: crm_properties_create crm_properties_list crm_tasks_complete crm_tasks_create",
            "sales: crm_pipelines_list crm_quotes_create crm_quotes_send crm_reports_forecast",
        ],
    );
}

#[test]
fn mail_in_mixed_writing() {
    check(
        &[
            ("sendMail", "Send an e-mail"),
            ("reply-to-mail", "Reply to an e-mail"),
            ("mailForward", "Forward an e-mail"),
            ("mail_search", "Search the mailbox"),
            ("getMailThread", "Get a whole conversation"),
            ("draft-create", "Create a draft"),
            ("draftUpdate", "Update a draft"),
            ("deleteDraft", "Delete a draft"),
            ("mail-label-add", "Add a label to a mail"),
            ("mailLabelRemove", "Remove a label from a mail"),
            ("listLabels", "List all labels"),
            ("attachmentDownload", "Download an attachment"),
            ("attachment-list", "List a mail's attachments"),
            ("createEvent", "Create a calendar event"),
            ("event-update", "Update an event"),
            ("eventDelete", "Delete an event"),
            ("listEvents", "List events in a range"),
            ("respond-to-event", "Accept or decline an invitation"),
            ("findFreeTime", "Find free slots of several people"),
            ("calendarList", "List calendars"),
            ("calendar-share", "Share a calendar with someone"),
            ("contactsSearch", "Search the address book"),
            ("contact-create", "Create a contact"),
            ("setOutOfOffice", "Set the automatic reply"),
            ("getVacationSettings", "Get the automatic reply"),
            ("markAsSpam", "Mark a mail as spam"),
        ],
        &[
            "draft: deleteDraft draft-create draftUpdate",
            "event: calendar-share calendarList createEvent event-update eventDelete listEvents respond-to-event",
            "mail: attachment-list attachmentDownload getMailThread listLabels mail-label-add mailForward mailLabelRemove mail_search markAsSpam reply-to-mail sendMail",
            "other: contact-create contactsSearch findFreeTime getVacationSettings setOutOfOffice",
        ],
    );
}

#[test]
fn chinese_with_joints() {
    check(
        &[
            ("创建_页面", "在知识库中创建一个页面。"),
            ("更新_页面", "更新页面内容。"),
            ("删除_页面", "删除页面。"),
            ("查询_页面", "按标题查询页面。"),
            ("创建_任务", "创建任务。"),
            ("完成_任务", "将任务标记为完成。"),
            ("分配_任务", "将任务分配给成员。"),
            ("查询_任务", "查询任务列表。"),
            ("上传_文件", "上传文件。"),
            ("下载_文件", "下载文件。"),
            ("删除_文件", "删除文件。"),
            ("添加_成员", "添加成员。"),
            ("移除_成员", "移除成员。"),
            ("列出_成员", "列出成员。"),
            ("发送_消息", "发送消息。"),
            ("撤回_消息", "撤回消息。"),
            ("搜索_消息", "搜索消息。"),
            ("创建_日程", "创建日程。"),
            ("取消_日程", "取消日程。"),
            ("查询_日程", "查询日程。"),
            ("翻译_文本", "翻译文本。"),
            ("查询_天气", "查询天气。"),
            ("导出_报表", "导出报表。"),
            ("生成_报表", "生成报表。"),
        ],
        &[
            "other: 导出_报表 查询_天气 生成_报表 翻译_文本",
            "任务: 分配_任务 创建_任务 完成_任务 查询_任务",
            "成员: 列出_成员 添加_成员 移除_成员",
            "文件: 上传_文件 下载_文件 删除_文件",
            "日程: 创建_日程 取消_日程 查询_日程",
            "消息: 发送_消息 搜索_消息 撤回_消息",
            "页面: 创建_页面 删除_页面 更新_页面 查询_页面",
        ],
    );
}

#[test]
fn chinese_without_joints() {
    check(
        &[
            ("创建页面", "在知识库中创建一个页面。"),
            ("更新页面", "更新页面内容。"),
            ("删除页面", "删除页面。"),
            ("创建任务", "创建任务。"),
            ("完成任务", "将任务标记为完成。"),
            ("分配任务", "将任务分配给成员。"),
            ("上传文件", "上传文件。"),
            ("下载文件", "下载文件。"),
            ("删除文件", "删除文件。"),
            ("添加成员", "添加成员。"),
            ("移除成员", "移除成员。"),
            ("列出成员", "列出成员。"),
            ("发送消息", "发送消息。"),
            ("撤回消息", "撤回消息。"),
            ("搜索消息", "搜索消息。"),
            ("翻译文本", "翻译文本。"),
            ("查询天气", "查询天气。"),
        ],
        &[
            "任务_and_天气: 分配任务 创建任务 完成任务 查询天气",
            "成员_and_文本: 列出成员 添加成员 移除成员 翻译文本",
            "文件: 上传文件 下载文件 删除文件",
            "消息: 发送消息 搜索消息 撤回消息",
            "页面: 创建页面 删除页面 更新页面",
        ],
    );
}

#[test]
fn verbs_that_are_nouns_in_front() {
    check(
        &[
            ("employee-list", "List employees"),
            ("employee-get", "Get one employee"),
            ("employee-onboard", "Start onboarding"),
            ("employee-terminate", "End employment"),
            ("leave-request", "Request leave"),
            ("leave-approve", "Approve a leave request"),
            ("leave-balance", "Show remaining leave days"),
            ("payslip-get", "Get a payslip"),
            ("payslip-list", "List payslips"),
            ("payroll-run", "Run payroll"),
            ("timesheet-submit", "Submit a timesheet"),
            ("timesheet-approve", "Approve a timesheet"),
            ("timesheet-get", "Get a timesheet"),
            ("job-post", "Publish a job"),
            ("job-close", "Close a job"),
            ("candidate-list", "List candidates"),
            ("candidate-advance", "Move a candidate to the next stage"),
            ("candidate-reject", "Reject a candidate"),
            ("interview-schedule", "Schedule an interview"),
            ("review-create", "Create a performance review"),
            ("review-submit", "Submit a performance review"),
            ("org-chart", "Show the org chart"),
        ],
        &[
            "candidate: candidate-advance candidate-list candidate-reject",
            "employee: employee-get employee-list employee-onboard employee-terminate",
            "leave: leave-approve leave-balance leave-request",
            "other: job-close job-post org-chart review-create review-submit",
            "staff: interview-schedule payroll-run payslip-get payslip-list",
            "timesheet: timesheet-approve timesheet-get timesheet-submit",
        ],
    );
}

#[test]
fn a_home() {
    check(
        &[
            ("HassTurnOn", "Turns on/opens a device or entity"),
            ("HassTurnOff", "Turns off/closes a device or entity"),
            ("HassLightSet", "Sets the brightness or color of a light"),
            ("HassSetVolume", "Sets the volume of a media player"),
            ("HassMediaPause", "Pauses a media player"),
            ("HassMediaUnpause", "Resumes a media player"),
            ("HassMediaNext", "Skips a media player to the next item"),
            ("HassMediaPrevious", "Replays the previous item for a media player"),
            ("HassMediaSearchAndPlay", "Searches for media and plays the first result"),
            ("HassClimateSetTemperature", "Sets the target temperature of a climate device"),
            ("HassClimateGetTemperature", "Gets the current temperature of a climate device"),
            ("HassListAddItem", "Add item to a todo list"),
            ("HassListCompleteItem", "Complete item on a todo list"),
            ("HassStartTimer", "Starts a new timer"),
            ("HassCancelTimer", "Cancels a timer"),
            ("HassPauseTimer", "Pauses a timer"),
            ("HassVacuumStart", "Starts a vacuum"),
            ("HassVacuumReturnToBase", "Returns a vacuum to base"),
            ("HassGetWeather", "Gets the current weather"),
            ("HassBroadcast", "Broadcast a message through the home"),
            ("GetLiveContext", "Provides real-time information about the current state of the home"),
            ("GetDateTime", "Provides the current date and time"),
        ],
        &[
            "home: GetLiveContext HassClimateGetTemperature HassClimateSetTemperature HassLightSet HassVacuumReturnToBase HassVacuumStart",
            "item_and_turn: HassListAddItem HassListCompleteItem HassTurnOff HassTurnOn",
            "media: HassMediaNext HassMediaPause HassMediaPrevious HassMediaSearchAndPlay HassMediaUnpause HassSetVolume",
            "other: GetDateTime HassBroadcast HassGetWeather",
            "timer: HassCancelTimer HassPauseTimer HassStartTimer",
        ],
    );
}
