/** Of the requests that are measured. */
export const MODEL = "claude-opus-5-5"
