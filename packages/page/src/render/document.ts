/** The HTML document around a page's content. It loads and runs nothing: its policy forbids network access, scripts and forms. */
import { createHash } from "node:crypto"
import { html, Markup } from "./markup.ts"
import { STYLE } from "./style.ts"

/** The beginning of every page. A file with another beginning is never replaced. */
export const PAGE_PREFIX = '<!doctype html>\n<html lang="en" data-page="strata">'

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64")
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'`

export function document({ title, body }: { readonly title: string; readonly body: Markup }): Markup {
  return html`${Markup.of(PAGE_PREFIX)}
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${Markup.of(POLICY)}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${Markup.of(STYLE)}</style>
</head>
<body>
${body}
</body>
</html>
`
}
