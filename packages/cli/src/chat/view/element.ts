/** Creates elements without JSX, which Node cannot run: `h(Text, { bold: true }, "text")`. */
import { createElement } from "react"

export const h = createElement
