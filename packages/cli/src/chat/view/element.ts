/** Components are written without JSX, which Node cannot run: `h(Text, { bold: true }, "words")`. */
import { createElement } from "react"

export const h = createElement
