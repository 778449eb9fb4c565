/** The formats of an export. */
export const EXPORT_FORMATS = ["claude-code", "markdown"] as const

/** One of `EXPORT_FORMATS`. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number]
