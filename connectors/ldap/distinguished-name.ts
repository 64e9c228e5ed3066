// Distinguished names in one spelling, so that the manager of one entry is found as the name of another (RFC 4514, RFC 4518).

const plain = /^[^\\"+#;<>\0]*$/;
const spaces = /\s*([,=+])\s*/g;

/** The same text for every spelling of a name. All values are compared without regard to case, as directories do. */
export function canonicalDn(dn: string): string {
  if (plain.test(dn)) return dn.replace(spaces, '$1').trim().toLowerCase();
  return splitUnescaped(dn, /[,;]/)
    .map((rdn) => splitUnescaped(rdn, /\+/).map(canonicalPair).sort().join('+'))
    .join(',');
}

function canonicalPair(pair: string): string {
  const at = pair.indexOf('=');
  if (at === -1) return pair.trim().toLowerCase();
  const [name, value] = [pair.slice(0, at).trim(), pair.slice(at + 1)];
  return `${name}=${escaped(unescaped(value))}`.toLowerCase();
}

/** Separators behind a backslash or between quotation marks do not count. */
function splitUnescaped(text: string, separator: RegExp): readonly string[] {
  const parts: string[] = [];
  let [part, isQuoted] = ['', false];
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === '\\') part += sign + text.charAt(++at);
    else if (separator.test(sign) && !isQuoted) {
      parts.push(part);
      part = '';
    } else {
      if (sign === '"') isQuoted = !isQuoted;
      part += sign;
    }
  }
  return [...parts, part];
}

/** The value itself: `\2C`, `\,` and a quoted comma are all a comma; two hexadecimal digits are a byte of UTF-8. */
function unescaped(value: string): string {
  const text = value
    .replace(/^\s+/, '')
    .replace(/(\\.|[^\\\s])\s*$/s, '$1')
    .replace(/^"(.*)"$/s, '$1');
  const bytes = text.replace(/(?:\\[0-9a-fA-F]{2})+/g, (run) =>
    Buffer.from(run.replaceAll('\\', ''), 'hex').toString('utf8').replaceAll('\\', '\\\\'),
  );
  return bytes.replace(/\\(.)/gs, '$1');
}

function escaped(value: string): string {
  return value.replace(/[\\,+=;"]/g, '\\$&');
}
