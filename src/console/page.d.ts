/** `page.js` is only ever imported as text: it runs in the browser. */
declare const text: string;
export default text;
