// Small marks in the number field. All show until the script knows the brand, then only that one does.
export function CardMarks() {
  return (
    <span class="marks" aria-hidden="true">
      <svg class="mark mark-visa" viewBox="0 0 32 20">
        <rect width="32" height="20" rx="3" fill="#1a3a8f" />
        <path fill="#fff" d="M13.4 13.6h-1.7l1-7.1h1.7zM10.200 6.500l-1.600 4.900-.2-1-.6-3.200s-.1-.7-.9-.7H4.200v.1s.9.2 1.900.8l1.500 6.200h1.800l2.700-7.100zM23.800 13.600h1.600l-1.400-7.100h-1.400c-.6 0-.8.5-.8.5l-2.600 6.600h1.800l.4-1h2.200zm-1.900-2.400.9-2.500.5 2.500zM19.300 8.200l.2-1.400s-.8-.4-1.600-.4c-.9 0-3 .4-3 2.300 0 1.800 2.500 1.800 2.500 2.800s-2.300.8-3 .2l-.3 1.500s.8.4 2 .4 3.100-.6 3.100-2.400c0-1.800-2.600-2-2.600-2.800s1.800-.7 2.700-.2z" />
      </svg>
      <svg class="mark mark-mastercard" viewBox="0 0 32 20">
        <rect width="32" height="20" rx="3" fill="#21242b" />
        <circle cx="13" cy="10" r="5.600" fill="#eb3b2f" />
        <circle cx="19" cy="10" r="5.600" fill="#f5a11d" />
        <path fill="#f26a23" d="M16 5.270a5.600 5.600 0 0 1 0 9.460 5.600 5.600 0 0 1 0-9.460z" />
      </svg>
      <svg class="mark mark-amex" viewBox="0 0 32 20">
        <rect width="32" height="20" rx="3" fill="#1f72cd" />
        <path fill="none" stroke="#fff" stroke-width="1.500" d="M3.600 13l2.500-5.600h.4L9 13M4.600 11.200h3.400M10.800 13V7.600h.3l2.400 3.900 2.400-3.900h.3V13M23 7.600h-4.400v4.800H23M18.600 10h4M24.500 7.200l4.500 5.600M29 7.200l-4.500 5.600" />
      </svg>
      <svg class="mark mark-other" viewBox="0 0 32 20">
        <rect x=".75" y=".75" width="30.500" height="18.500" rx="2.500" fill="none" stroke="currentColor" stroke-width="1.500" />
        <path fill="currentColor" d="M1 5h30v3H1zm4 8h8v1.500H5z" />
      </svg>
    </span>
  );
}
