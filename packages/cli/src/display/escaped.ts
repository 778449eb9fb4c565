/** Escapes external text inside Strata's sentences, in the same way as the library. */
export { escapeInvisible } from "@strata/core/base"
