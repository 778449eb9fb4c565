/** Model of the measured requests. */
export const MODEL = "claude-opus-5-5"
