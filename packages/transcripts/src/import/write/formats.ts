/** The formats that a conversation can be written in. */
export const EXPORT_FORMATS = ["claude-code", "markdown"] as const

/** One of `EXPORT_FORMATS`. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number]
