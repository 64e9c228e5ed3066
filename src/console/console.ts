// The console: the page on which a Power User sets up an account, signs in, and sees sources and imports.
// It is a client of the admin API and nothing else: it knows neither the domain nor the database.
// The files are in the executable, and the page asks no other host for anything.

import icon from './icon.svg' with { type: 'text' };
import style from './page.css' with { type: 'text' };
import page from './page.htm' with { type: 'text' };
import script from './page.js' with { type: 'text' };

export const consoleFiles = { page, script, style, icon };
