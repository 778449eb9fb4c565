/** Texts that try to inject markup, scripts or requests into a page. */
const CALL = "window.ran=1"

const TAGS = [
  "img src=x onerror",
  "svg onload",
  "body onload",
  "iframe onload",
  "input autofocus onfocus",
  "details open ontoggle",
  "video src=x onerror",
  "audio src=x onerror",
  "marquee onstart",
  "object data=x onerror",
]
const QUOTES = ["", '"', "'", "`"]
const BEFORE = ["", '">', "'>", "--></style></script>", "</title></textarea>"]

/** More than two hundred payloads. */
export const PAYLOADS: readonly string[] = [
  ...TAGS.flatMap((tag) =>
    QUOTES.flatMap((quote) => BEFORE.map((before) => `${before}<${tag}=${quote}${CALL}${quote}>`)),
  ),
  `<script>${CALL}</script>`,
  `<script src=//127.0.0.1:1/x.js></script>`,
  `javascript:${CALL}`,
  `[link](javascript:${CALL})`,
  `<a href="javascript:${CALL}">click</a>`,
  `<meta http-equiv=refresh content="0;url=http://127.0.0.1:1/">`,
  `<link rel=stylesheet href=http://127.0.0.1:1/a.css>`,
  `<base href=http://127.0.0.1:1/>`,
  `<form action=http://127.0.0.1:1/><button>x</button></form>`,
  `{{constructor.constructor('${CALL}')()}}`,
  "$" + "{alert(1)}",
  "\u202eevil\u202c gpj.exe",
  "\u0000\u0007\u001b]0;title\u0007",
  "&lt;script&gt;",
  "a".repeat(5_000),
  "\ud800 half of a pair",
]
