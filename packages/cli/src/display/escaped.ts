/** A text of someone else inside a sentence of ours, as the library writes it too. */
export { escapeInvisible } from "@strata/core/base"
