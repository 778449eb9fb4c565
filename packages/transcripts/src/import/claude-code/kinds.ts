/** The kinds of lines that Claude Code writes, and why some of them are not messages. Taken from transcripts of versions up to 2.1.325. */

const SETTING = "a setting of the program"
const STATE = "state of the program, not of the conversation"
const BACKUP = "backups of edited files are not part of the conversation"
const REQUEST = "a copy of what a request sent; the messages have it too"
const TITLE = "the newest one is the title"

export const BOOKKEEPING: Readonly<Record<string, string>> = {
  summary: "a title for listing sessions, often of another session",
  "custom-title": TITLE,
  "ai-title": TITLE,
  "file-history-snapshot": BACKUP,
  "file-history-delta": BACKUP,
  "queue-operation": "queued input is imported at the place where it was sent",
  "last-prompt": "repeats a message, for listing sessions",
  mode: SETTING,
  "permission-mode": SETTING,
  "memory-mode": SETTING,
  "agent-name": SETTING,
  "agent-color": SETTING,
  "agent-setting": SETTING,
  "dev-mods": SETTING,
  tag: "a label of the user, for listing sessions",
  relocated: "the session's directory moved; the first one is imported",
  "continued-in": "names the session that continues from here",
  "ended-by-model": STATE,
  "pr-link": "names a pull request of the session",
  "frame-link": "names a page that was made in the session",
  "cost-state": "the program's own totals; costs are computed from the usage of each response",
  "content-replacement": "requests contained a shortened result; the messages have the complete one",
  "api-request": REQUEST,
  "api-request-shape": REQUEST,
  "api-request-blob": REQUEST,
  "attribution-snapshot": STATE,
  "speculation-accept": STATE,
  "worktree-state": STATE,
  "bridge-session": STATE,
  "atis-latch": STATE,
  "isolation-latch": STATE,
  "history-suppression": STATE,
  "fork-context-ref": STATE,
  "observer-ref": STATE,
  "task-summary": STATE,
  "artifact-comment-monitor": STATE,
  "artifact-autoreact-ledger": STATE,
}

/** Kinds of system lines of which position, subtype, text and compaction metadata are imported. */
export const SYSTEM_SUBTYPES: ReadonlySet<string> = new Set([
  ...["none", "compact_boundary", "microcompact_boundary", "stop_hook_summary", "turn_duration", "api_error"],
  ...["local_command", "informational", "away_summary", "bridge_status", "memory_saved", "agents_killed"],
  ...["permission_retry", "permission_denied", "scheduled_task_fire", "cloud_session_status", "file_snapshot"],
  ...["model_fallback", "model_consent_fallback", "model_refusal_fallback", "model_refusal_no_fallback"],
  ...["instruction_size_warning", "file_attachments_missing", "per_turn_effort_changed", "notification"],
])

/** Attachments that the program uses internally. If a version recorded a text for the model, that text is imported. */
export const SILENT_ATTACHMENTS: ReadonlySet<string> = new Set([
  ...["auto_mode", "auto_mode_exit", "command_permissions", "prompt_snapshot", "prompt_render_point", "credential_org"],
  ...[
    "deferred_tools_record",
    "batching_reminder_sent",
    "secondary_reminder_sent",
    "thinking_drop",
    "thinking_stripped",
  ],
  ...["advisor_stripped", "already_read_file", "inlined_image_paths", "session_settings", "structured_output"],
  ...["hook_cancelled", "hook_permission_decision", "hook_deferred_tool", "max_turns_reached", "session_cron_carry"],
])
