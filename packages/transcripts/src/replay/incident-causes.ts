/** Explanations for requests that read more or less from the cache than the rules predict. */
export const INCIDENT_CAUSES = {
  "prompt-kept-warm": "another conversation kept the system prompt and the tools in the cache",
  outlived: "an entry was read after its lifetime, counted from the recorded times",
  "unrecorded-request": "a request that is not in the recording had cached the last answer too",
  "more-read": "unexplained: more was read than any known request had cached",
  "tools-changed": "the tools or the system prompt changed, as recorded",
  interrupted: "the user interrupted: the recording does not show what remained of the turn",
  "other-prompt": "after a compaction less of the prompt was read",
  "prompt-left":
    "unexplained: only the prompt was read within the lifetime (the client changed an early message, or the server dropped the rest)",
  "part-left":
    "unexplained: some messages were lost within their lifetime (changed by the client, or dropped by the server)",
  "all-lost":
    "unexplained: everything was lost within its lifetime (the server's choice, or an unrecorded change of the prompt)",
} as const
export type IncidentCause = keyof typeof INCIDENT_CAUSES

/** Causes without evidence in the recording. */
export const UNEXPLAINED: ReadonlySet<IncidentCause> = new Set([
  ...(["prompt-left", "part-left", "all-lost", "more-read"] as const),
])
