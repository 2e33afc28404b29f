/** Type of the ApplicationFailure a DomainError becomes on its way through Temporal. */
export const domainFailureType = 'DomainError';
